import type { ServicePortKey } from '../model/service-port-name.js';
import { isUnexplained } from './unexplained.js';

/** Two service ports claim one frontend. The holder's clients are served. */
export interface FrontendConflict {
  /** For people: `10.96.0.10:53/UDP`. */
  readonly frontend: string;
  readonly holder: ServicePortKey;
  readonly loser: ServicePortKey;
}

/** The claimants before a change and after it: the holder first. */
export interface ClaimChange {
  readonly before: readonly ServicePortKey[];
  readonly after: readonly ServicePortKey[];
}

const NO_CLAIMANTS: readonly ServicePortKey[] = [];

/**
 * The claims, by an id that each desired state chooses. Of several claimants the first by key holds it. Unexplained
 * rules give way for good: their claim ends when a service port claims the same.
 */
export class Claims {
  /** A single claimant, as nearly all ids have, without a list around it: there are very many. */
  private readonly claimantsOf = new Map<string, ServicePortKey | readonly ServicePortKey[]>();
  private readonly contested = new Set<string>();
  private gaveWay = false;

  /** In order, the holder first. */
  claimants(id: string): readonly ServicePortKey[] {
    const claimants = this.claimantsOf.get(id) ?? NO_CLAIMANTS;
    return typeof claimants === 'string' ? [claimants] : claimants;
  }

  holder(id: string): ServicePortKey | undefined {
    const claimants = this.claimantsOf.get(id);
    return typeof claimants === 'string' ? claimants : claimants?.[0];
  }

  /** Whether anything has several claimants. Cheap. */
  get isContested(): boolean {
    return this.contested.size > 0;
  }

  /** Whether every claimant surely holds what it claims. Cheap. */
  get allHold(): boolean {
    return !this.isContested && !this.gaveWay;
  }

  /** @param givesWay whether the claim of unexplained rules ends here */
  claim(id: string, owner: ServicePortKey, givesWay = true): ClaimChange {
    const before = this.claimants(id);
    if (before.includes(owner)) return { before, after: before };
    const others =
      givesWay && !isUnexplained(owner) ? before.filter((other) => !isUnexplained(other)) : before;
    if (others.length < before.length) this.gaveWay = true;
    return this.set(id, before, others.concat(owner).sort());
  }

  release(id: string, owner: ServicePortKey): ClaimChange {
    const before = this.claimants(id);
    return this.set(
      id,
      before,
      before.filter((claimant) => claimant !== owner),
    );
  }

  /** The conflicts about one thing, reported as `frontend`. */
  conflicts(id: string, frontend: string): readonly FrontendConflict[] {
    if (!this.contested.has(id)) return [];
    const [holder, ...losers] = this.claimants(id);
    return losers.map((loser) => ({ frontend, holder: holder!, loser }));
  }

  private set(id: string, before: readonly ServicePortKey[], after: readonly ServicePortKey[]): ClaimChange {
    if (after.length > 0) this.claimantsOf.set(id, after.length === 1 ? after[0]! : after);
    else this.claimantsOf.delete(id);
    if (after.length > 1) this.contested.add(id);
    else if (before.length > 1) this.contested.delete(id);
    return { before, after };
  }
}
