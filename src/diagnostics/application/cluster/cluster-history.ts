import type { AboutUnknown } from '../status/service-row.js';
import type { ChangeEntry, History } from '../../../application/status/change-entry.js';
import type { UnknownName } from '../status/service-row.js';
import { unknownEverywhere } from './unknown-everywhere.js';

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
