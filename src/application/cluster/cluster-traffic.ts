import { servicePortKey } from '../../domain/model/service-port-name.js';
import { protocol } from '../../domain/shapes/net-shapes.js';
import { fields, flag, list, number, optional, text } from '../../domain/shapes/shape.js';
import type { NodeAnswer } from './ask-nodes.js';

/** Connections of one service port. */
type PortCounts = ReturnType<typeof portCounts>;
const portCounts = fields({
  namespace: text,
  name: text,
  port: text,
  protocol,
  open: number,
  newPerSecond: number,
  unanswered: number,
});

/** The part of one proxy's traffic that is summed up, each service port once per IP family. */
export type NodeTraffic = ReturnType<typeof nodeTraffic>;
export const nodeTraffic = fields({ tracksServices: optional(flag), services: list(portCounts) });

/** Connections of a cluster. */
export interface ClusterTraffic {
  /** Sums over the nodes that answered, the most open connections first. */
  readonly services: readonly SummedTraffic[];
  readonly asked: number;
  /** Nodes that answered, and whose kernel does not track connections of Services. */
  readonly untracked: readonly string[];
}

export interface SummedTraffic extends PortCounts {
  /** Nodes through which it has connections. */
  readonly nodes: number;
}

/** Adds up what the nodes say, over both IP families. */
export function sumTraffic(answers: readonly NodeAnswer<NodeTraffic>[], asked: number): ClusterTraffic {
  const sums = new Map<string, PortCounts>();
  const nodes = new Map<string, Set<string>>();
  for (const { node, answer } of answers)
    for (const traffic of answer.services) {
      const key = servicePortKey(traffic);
      sums.set(key, added(sums.get(key), traffic));
      nodes.set(key, (nodes.get(key) ?? new Set()).add(node));
    }
  return {
    services: [...sums].map(([key, sum]) => ({ ...sum, nodes: nodes.get(key)!.size })).sort(byConnections),
    asked,
    untracked: answers.flatMap(({ node, answer }) => (answer.tracksServices === false ? node : [])),
  };
}

function added(sum: PortCounts | undefined, traffic: PortCounts): PortCounts {
  const { namespace, name, port, protocol } = traffic;
  return {
    namespace,
    name,
    port,
    protocol,
    open: (sum?.open ?? 0) + traffic.open,
    newPerSecond: (sum?.newPerSecond ?? 0) + traffic.newPerSecond,
    unanswered: (sum?.unanswered ?? 0) + traffic.unanswered,
  };
}

function byConnections(a: SummedTraffic, b: SummedTraffic): number {
  return (
    b.open - a.open || b.newPerSecond - a.newPerSecond || (servicePortKey(a) < servicePortKey(b) ? -1 : 1)
  );
}
