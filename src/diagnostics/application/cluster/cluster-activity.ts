import { endpointPlace } from '../../../domain/model/endpoint.js';
import { grouped } from '../../../domain/model/maps.js';
import { servicePortKey } from '../../../domain/model/service-port-name.js';
import type { PortReport, TrafficReport } from '../../domain/traffic.js';
import { type NodeAnswer, unknownEverywhere } from './query-nodes.js';
import type { AboutUnknown, UnknownName } from '../status/service-row.js';
import type { ChangeEntry, History } from '../../../application/status/change-entry.js';

/** Connections of a cluster. */
export interface ClusterTraffic {
  /** Sums over the nodes that answered, the most open connections first. */
  readonly services: readonly SummedTraffic[];
  /** Nodes that answered, and whose kernel does not track connections of Services. */
  readonly untracked: readonly string[];
}

type Sum = 'openConnections' | 'newConnectionsPerSecond' | 'unansweredConnections';

/** Connections of one service port. */
export interface SummedTraffic extends Pick<
  PortReport,
  'namespace' | 'name' | 'portName' | 'protocol' | Sum
> {
  /** Nodes through which it has connections. */
  readonly nodes: number;
  /** How many endpoints do not answer some node. */
  readonly unresponsiveEndpoints: number;
}

/** Adds up what the nodes say, over both IP families. */
export function sumTraffic(answers: readonly NodeAnswer<TrafficReport>[]): ClusterTraffic {
  const reported = answers.flatMap(({ node, answer }) =>
    answer.services.map((traffic) => ({ node, traffic })),
  );
  const byPort = grouped(reported, ({ traffic }) => keyOf(traffic));
  const services = [...byPort.values()].map((all) => {
    const { namespace, name, portName, protocol } = all[0]!.traffic;
    const sum = (count: Sum): number => all.reduce((total, { traffic }) => total + traffic[count], 0);
    return {
      namespace,
      name,
      portName,
      protocol,
      openConnections: sum('openConnections'),
      newConnectionsPerSecond: sum('newConnectionsPerSecond'),
      unansweredConnections: sum('unansweredConnections'),
      nodes: new Set(all.map(({ node }) => node)).size,
      unresponsiveEndpoints: new Set(all.flatMap(({ traffic }) => unresponsivePlaces(traffic))).size,
    };
  });
  return {
    services: services.sort(byConnections),
    untracked: answers.flatMap(({ node, answer }) => (!answer.servicesTracked ? node : [])),
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
export interface ClusterHistory {
  /** The oldest first. */
  readonly changes: readonly NodeChange[];
  /** All changes since the starts of the proxies, also those that are left out or forgotten by now. */
  readonly total: number;
  /** The Service that was asked about, if no node knows it. */
  readonly unknownNames: readonly UnknownName[];
}

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
