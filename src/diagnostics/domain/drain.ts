/** Whether endpoints may stop: the connections that lead to them, as the nodes of a cluster see them. */

import { hostPort } from '../../domain/net/address.js';
import { fields, flag, list, number, optional, protocol, text, time, word } from '../../domain/shape.js';
import { grouped } from '../../domain/model/maps.js';

const place = {
  address: text,
  port: number,
  protocol,
  /** `namespace/name`; missing if it is no pod, or not known. */
  pod: optional(text),
  /** The node where it runs; missing if it is not known. */
  nodeName: optional(text),
  /** Service ports whose endpoint it is, `namespace/name:port`. */
  services: list(text),
  /** Since when it is known to terminate; missing if it does not. */
  terminatingSinceTime: optional(time),
  openConnections: number,
};

/** An endpoint, and the connections that lead there through one node. */
export type NodeEndpoint = ReturnType<typeof nodeEndpoint>;
const nodeEndpoint = fields({
  ...place,
  /** New connections may lead there, too. */
  inUse: flag,
});

/** What one node knows about endpoints. */
export type NodeDrain = ReturnType<typeof nodeDrain>;
export const nodeDrain = fields({
  node: text,
  endpoints: list(nodeEndpoint),
  /** The addresses to which connections were counted, with endpoints or without. */
  addresses: list(text),
  /** Why its connections cannot be seen, for people; missing: they can. */
  unseenReason: optional(text),
});

/**
 * `in-use`: some node may open new connections to it. `draining`: connections are open. `unknown`: not every node is known to have
 * none. `safe`: none leads there.
 */
type DrainState = 'safe' | 'draining' | 'in-use' | 'unknown';

export type DrainingEndpoint = ReturnType<typeof drainingEndpoint>;
const drainingEndpoint = fields({
  ...place,
  state: word<DrainState>(),
  /** Nodes through which connections lead there, or may. */
  nodes: list(fields({ node: text, openConnections: number, inUse: flag })),
  /** Nodes whose objects are out of date: they do not know that it terminates, or where it is. */
  unawareNodes: list(text),
});

/** The endpoints, and whether all of them may stop. */
export type DrainStatus = ReturnType<typeof drainStatusAnswer>;
export const drainStatusAnswer = fields({
  safe: flag,
  /** The most connections first. */
  endpoints: list(drainingEndpoint),
  /** Nodes whose connections cannot be seen, and why. */
  unseenNodes: list(fields({ node: text, reason: text })),
});

/**
 * Adds up what nodes answered. It is safe only if every node has answered, and sees its connections.
 * @param isComplete whether all nodes have answered
 */
export function drainStatus(answers: readonly NodeDrain[], isComplete = true): DrainStatus {
  const unseenNodes = answers.flatMap(({ node, unseenReason }) =>
    unseenReason === undefined ? [] : { node, reason: unseenReason },
  );
  const isSeen = isComplete && unseenNodes.length === 0;
  const rows = answers.flatMap(({ node, endpoints }) => endpoints.map((endpoint) => ({ node, endpoint })));
  const endpoints = Array.from(
    grouped(rows, ({ endpoint }) => drainPlace(endpoint)).values(),
    (same): DrainingEndpoint => {
      const { address, port, protocol: its } = same[0]!.endpoint;
      const known = same.map(({ endpoint }) => endpoint);
      const times = known.flatMap(({ terminatingSinceTime = [] }) => terminatingSinceTime);
      const pod = known.find((one) => one.pod !== undefined)?.pod;
      const nodeName = known.find((one) => one.nodeName !== undefined)?.nodeName;
      const nodes = same
        .filter(({ endpoint }) => endpoint.inUse || endpoint.openConnections > 0)
        .map(({ node, endpoint: { openConnections, inUse } }) => ({ node, openConnections, inUse }));
      const openConnections = nodes.reduce((sum, one) => sum + one.openConnections, 0);
      const unawareNodes = answers.flatMap(({ node, addresses }) =>
        addresses.includes(address) ? [] : node,
      );
      return {
        ...{ address, port, protocol: its, openConnections, nodes, unawareNodes },
        ...(pod !== undefined && { pod }),
        ...(nodeName !== undefined && { nodeName }),
        services: [...new Set(known.flatMap(({ services }) => services))].sort(),
        ...(times.length > 0 && { terminatingSinceTime: times.sort()[0]! }),
        state: nodes.some(({ inUse }) => inUse)
          ? 'in-use'
          : openConnections > 0
            ? 'draining'
            : isSeen && unawareNodes.length === 0
              ? 'safe'
              : 'unknown',
      };
    },
  );
  return {
    safe: isSeen && endpoints.every(({ state }) => state === 'safe'),
    endpoints: endpoints.sort((one, other) => other.openConnections - one.openConnections),
    unseenNodes,
  };
}

/** `10.244.1.7:8080/TCP` */
export function drainPlace({
  address,
  port,
  protocol: its,
}: Pick<NodeEndpoint, 'address' | 'port' | 'protocol'>): string {
  return `${hostPort(address, port)}/${its}`;
}
