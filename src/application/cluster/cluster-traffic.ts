import { servicePortKey, type Protocol } from '../../domain/model/service-port-name.js';
import { answersOf, silentOf, type NodeReply, type SilentNode } from './ask-nodes.js';

/** Connections of one service port. */
export interface PortTraffic {
  readonly namespace: string;
  readonly name: string;
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly open: number;
  readonly newPerSecond: number;
  readonly unanswered: number;
}

/** The part of one proxy's traffic that is summed up, each service port once per IP family. */
export interface NodeTraffic {
  readonly services: readonly PortTraffic[];
}

/** Connections of a cluster. */
export interface ClusterTraffic {
  /** Sums over the nodes that answered, the most open connections first. */
  readonly services: readonly SummedTraffic[];
  readonly asked: number;
  readonly silent: readonly SilentNode[];
}

export interface SummedTraffic extends PortTraffic {
  /** Nodes through which it has connections. */
  readonly nodes: number;
}

/** Adds up what the nodes say, over both IP families. */
export function sumTraffic(replies: readonly NodeReply<NodeTraffic>[]): ClusterTraffic {
  const sums = new Map<string, PortTraffic>();
  const nodes = new Map<string, Set<string>>();
  for (const { node, answer } of answersOf(replies))
    for (const traffic of answer.services) {
      const key = servicePortKey(traffic);
      sums.set(key, added(sums.get(key), traffic));
      nodes.set(key, (nodes.get(key) ?? new Set()).add(node));
    }
  return {
    services: [...sums].map(([key, sum]) => ({ ...sum, nodes: nodes.get(key)!.size })).sort(byConnections),
    asked: replies.length,
    silent: silentOf(replies),
  };
}

function added(sum: PortTraffic | undefined, traffic: PortTraffic): PortTraffic {
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
