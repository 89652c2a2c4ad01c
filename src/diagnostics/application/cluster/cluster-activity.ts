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
  readonly asked: number;
  /** Nodes that answered, and whose kernel does not track connections of Services. */
  readonly untracked: readonly string[];
}

/** Connections of one service port. */
export interface SummedTraffic extends Pick<
  PortReport,
  'namespace' | 'name' | 'port' | 'protocol' | 'open' | 'newPerSecond' | 'unanswered'
> {
  /** Nodes through which it has connections. */
  readonly nodes: number;
}

/** Adds up what the nodes say, over both IP families. */
export function sumTraffic(answers: readonly NodeAnswer<TrafficReport>[], asked: number): ClusterTraffic {
  const reported = answers.flatMap(({ node, answer }) =>
    answer.services.map((traffic) => ({ node, traffic })),
  );
  const byPort = grouped(reported, ({ traffic }) => servicePortKey(traffic));
  const services = [...byPort.values()].map((all) => {
    const { namespace, name, port, protocol } = all[0]!.traffic;
    const sum = (count: 'open' | 'newPerSecond' | 'unanswered'): number =>
      all.reduce((total, { traffic }) => total + traffic[count], 0);
    return {
      namespace,
      name,
      port,
      protocol,
      open: sum('open'),
      newPerSecond: sum('newPerSecond'),
      unanswered: sum('unanswered'),
      nodes: new Set(all.map(({ node }) => node)).size,
    };
  });
  return {
    services: services.sort(byConnections),
    asked,
    untracked: answers.flatMap(({ node, answer }) => (!answer.tracksServices ? node : [])),
  };
}

function byConnections(a: SummedTraffic, b: SummedTraffic): number {
  return (
    b.open - a.open || b.newPerSecond - a.newPerSecond || (servicePortKey(a) < servicePortKey(b) ? -1 : 1)
  );
}

/** The last changes of all proxies of a cluster. */
export interface ClusterHistory {
  /** The oldest first. */
  readonly changes: readonly NodeChange[];
  /** All changes since the starts of the proxies, also those that are left out or forgotten by now. */
  readonly total: number;
  /** The Service that was asked about, if no node knows it. */
  readonly unknown: readonly UnknownName[];
}

export type NodeChange = ChangeEntry & { readonly node: string };

/** As many as one proxy remembers. */
const KEPT = 1_000;

/** Keeps the newest changes of nodes as they come. */
export class HistorySum {
  private changes: readonly NodeChange[] = [];
  private total = 0;
  private readonly unknown: (readonly UnknownName[])[] = [];

  add(node: string, { changes, total, unknown = [] }: History & AboutUnknown): void {
    this.total += total;
    this.unknown.push(unknown);
    const added = changes.map((change) => ({ ...change, node }));
    this.changes = [...this.changes, ...added]
      .sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
      .slice(-KEPT);
  }

  result(): ClusterHistory {
    const { changes, total } = this;
    return { changes, total, unknown: unknownEverywhere(this.unknown) };
  }
}
