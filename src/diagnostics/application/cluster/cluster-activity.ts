import { endpointPlace } from '../../../domain/model/endpoint.js';
import { grouped } from '../../../domain/model/maps.js';
import { servicePortKey } from '../../../domain/model/service-port-name.js';
import type { PortReport, TrafficReport } from '../../domain/traffic.js';
import { type NodeAnswer, unknownEverywhere } from './query-nodes.js';
import { unknownName, type AboutUnknown, type UnknownName } from '../status/service-row.js';
import { change, type ChangeEntry, type History } from '../../../application/status/change-entry.js';
import { both, fields, list, number, protocol, text } from '../../../domain/shape.js';

const sums = { openConnections: number, newConnectionsPerSecond: number, unansweredConnections: number };

/** Connections of a cluster. */
export type ClusterTraffic = ReturnType<typeof clusterTraffic>;
export const clusterTraffic = fields({
  /** Service ports: sums over the nodes that answered, the most open connections first. */
  services: list(
    fields({
      namespace: text,
      name: text,
      portName: text,
      protocol,
      ...sums,
      /** Nodes through which it has connections. */
      nodeCount: number,
      /** How many endpoints do not answer some node. */
      unresponsiveEndpoints: number,
    }),
  ),
  /** Nodes that answered, and whose kernel does not track connections of Services. */
  untrackedNodes: list(text),
  /** Requested names that no node knows. */
  unknownNames: list(unknownName),
});

type SummedTraffic = ClusterTraffic['services'][number];

/** Adds up what the nodes say, over both IP families. */
export function sumTraffic(answers: readonly NodeAnswer<TrafficReport & AboutUnknown>[]): ClusterTraffic {
  const reported = answers.flatMap(({ node, answer }) =>
    answer.services.map((traffic) => ({ node, traffic })),
  );
  const byPort = grouped(reported, ({ traffic }) => keyOf(traffic));
  const services = [...byPort.values()].map((all) => {
    const { namespace, name, portName, protocol } = all[0]!.traffic;
    const sum = (count: keyof typeof sums): number =>
      all.reduce((total, { traffic }) => total + traffic[count], 0);
    return {
      namespace,
      name,
      portName,
      protocol,
      openConnections: sum('openConnections'),
      newConnectionsPerSecond: sum('newConnectionsPerSecond'),
      unansweredConnections: sum('unansweredConnections'),
      nodeCount: new Set(all.map(({ node }) => node)).size,
      unresponsiveEndpoints: new Set(all.flatMap(({ traffic }) => unresponsivePlaces(traffic))).size,
    };
  });
  return {
    services: services.sort(byConnections),
    untrackedNodes: answers.flatMap(({ node, answer }) => (!answer.servicesTracked ? node : [])),
    unknownNames: unknownEverywhere(answers.map(({ answer }) => answer.unknownNames ?? [])),
  };
}

function unresponsivePlaces({ endpoints }: PortReport): readonly string[] {
  return endpoints.filter(({ unresponsive }) => unresponsive).map(endpointPlace);
}

function keyOf({
  portName,
  ...service
}: Pick<PortReport, 'namespace' | 'name' | 'portName' | 'protocol'>): string {
  return servicePortKey({ ...service, port: portName });
}

function byConnections(a: SummedTraffic, b: SummedTraffic): number {
  return (
    b.openConnections - a.openConnections ||
    b.newConnectionsPerSecond - a.newConnectionsPerSecond ||
    (keyOf(a) < keyOf(b) ? -1 : 1)
  );
}

/** The last changes of all proxies of a cluster. */
export type ClusterHistory = ReturnType<typeof clusterHistory>;
export const clusterHistory = fields({
  /** The oldest first. */
  changes: list(both(change, fields({ node: text }))),
  /** All changes since the starts of the proxies, also those that are left out or forgotten by now. */
  total: number,
  /** Requested names that no node knows. */
  unknownNames: list(unknownName),
});

export type NodeChange = ChangeEntry & { readonly node: string };

/** As many as one proxy remembers. */
const KEPT = 1_000;

/** Keeps the newest changes of nodes as they come. */
export class HistorySum {
  private changes: readonly NodeChange[] = [];
  private total = 0;
  private readonly unknown: (readonly UnknownName[])[] = [];

  /** @param limit of changes */
  constructor(private readonly limit = KEPT) {}

  add(node: string, { changes, total, unknownNames = [] }: History & AboutUnknown): void {
    this.total += total;
    this.unknown.push(unknownNames);
    const added = changes.map((change) => ({ ...change, node }));
    this.changes = [...this.changes, ...added]
      .sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0))
      .slice(-this.limit);
  }

  result(): ClusterHistory {
    const { changes, total } = this;
    return { changes, total, unknownNames: unknownEverywhere(this.unknown) };
  }
}
