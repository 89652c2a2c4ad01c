import { answersOf, silentOf, type NodeReply, type SilentNode } from './ask-nodes.js';

/** Connections of one service port. */
export interface PortTraffic {
  readonly namespace: string;
  readonly name: string;
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly open: number;
  readonly newPerSecond: number;
  readonly unanswered: number;
}

/** The part of one proxy's traffic that is summed up. */
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

/** Adds up what the nodes say. */
export function sumTraffic(replies: readonly NodeReply<NodeTraffic>[]): ClusterTraffic {
  const sums = new Map<string, SummedTraffic>();
  for (const { answer } of answersOf(replies))
    for (const traffic of answer.services) {
      const { namespace, name, port } = traffic;
      const key = `${namespace}/${name}/${port}`;
      const sum = sums.get(key) ?? {
        namespace,
        name,
        port,
        open: 0,
        newPerSecond: 0,
        unanswered: 0,
        nodes: 0,
      };
      sums.set(key, added(sum, traffic));
    }
  return {
    services: [...sums.values()].sort(byConnections),
    asked: replies.length,
    silent: silentOf(replies),
  };
}

function added(sum: SummedTraffic, { open, newPerSecond, unanswered }: PortTraffic): SummedTraffic {
  return {
    ...sum,
    open: sum.open + open,
    newPerSecond: sum.newPerSecond + newPerSecond,
    unanswered: sum.unanswered + unanswered,
    nodes: sum.nodes + 1,
  };
}

function byConnections(a: SummedTraffic, b: SummedTraffic): number {
  return b.open - a.open || b.newPerSecond - a.newPerSecond || (nameOf(a) < nameOf(b) ? -1 : 1);
}

function nameOf({ namespace, name, port }: PortTraffic): string {
  return `${namespace}/${name}/${port}`;
}
