import { FrontendMap, NODE_PORT, type FrontendAddress } from './frontend-map.js';

/** Which flows to look at: UDP flows to this address and port; whatever is left out does not matter. */
export interface FlowQuery {
  readonly address?: string;
  readonly port?: number;
}

/** Each query makes the kernel search its whole table; past so many, one walk that delivers all UDP flows costs less. */
const MOST_QUERIES = 4;

/** The endpoints that have lost a frontend: those known by `ip:port`, or whichever it led to. */
export type Losers = ReadonlySet<string> | 'all';

/**
 * The frontends whose flows may have become wrong since they were last looked at, each with the endpoints that have lost
 * it. Collected from one reconciliation to the next.
 */
export class Doubts {
  readonly lost = new FrontendMap<Set<string> | 'all'>();
  private all = false;

  get empty(): boolean {
    return !this.all && this.lost.empty;
  }

  /** Every flow is to be looked at. */
  doubtEverything(): void {
    this.all = true;
  }

  /** @param endpoints `ip:port` of those that may keep the frontend's flows no longer; `all` where they are not known */
  doubt(frontend: FrontendAddress, endpoints: Iterable<string> | 'all'): void {
    const lost = this.lost.get(frontend.port, frontend.address);
    if (endpoints === 'all') this.lost.set(frontend, 'all');
    else if (!lost) this.lost.set(frontend, new Set(endpoints));
    else if (lost !== 'all') for (const endpoint of endpoints) lost.add(endpoint);
  }

  /** Takes over what an attempt that failed could not settle. */
  add(other: Doubts): void {
    this.all ||= other.all;
    for (const [frontend, endpoints] of other.lost.entries()) this.doubt(frontend, endpoints);
  }

  /** The fewest walks through the kernel's table that show every flow in doubt. */
  queries(): readonly FlowQuery[] {
    if (this.all) return [{}];
    const queries = [...this.lost.ports()].map(([port, addresses]): FlowQuery => {
      const [address = NODE_PORT] = addresses.keys();
      return addresses.size > 1 || address === NODE_PORT ? { port } : { port, address };
    });
    return queries.length > MOST_QUERIES ? [{}] : queries;
  }
}
