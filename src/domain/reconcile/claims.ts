/** Which service port owns a frontend when several claim it. */

import type { ServicePortKey } from '../model/service-port-name.js';

/** The owner before a change and after it. */
export interface ClaimChange {
  readonly before: ServicePortKey | undefined;
  readonly after: ServicePortKey | undefined;
}

const NO_CLAIMANTS: readonly ServicePortKey[] = [];

/** The rank of a claimant among those of one thing. Requested only if there are several. */
export type RankOf = (owner: ServicePortKey) => string;

const EQUAL_RANKS: RankOf = () => '';

/**
 * The claims, by an id. Of several claimants the first by rank, then by key, owns it. Unexplained rules yield for good: their claim
 * ends when a service port claims the same.
 */
export class Claims {
  /** A single claimant, as nearly all ids have, without anything around it: there are very many. */
  private readonly claimantsOf = new Map<string, ServicePortKey | Claimants>();
  /** Ids with several claimants. */
  private contested = 0;
  /** Ids that unexplained rules claimed at some time. */
  private readonly unexplained = new Set<string>();
  private hasYielded = false;

  /** In order, the owner first. */
  claimants(id: string): readonly ServicePortKey[] {
    const claimants = this.claimantsOf.get(id);
    if (claimants === undefined) return NO_CLAIMANTS;
    return typeof claimants === 'string' ? [claimants] : claimants.sorted();
  }

  ownerOf(id: string): ServicePortKey | undefined {
    return firstOf(this.claimantsOf.get(id));
  }

  /** Whether anything has several claimants. Cheap. */
  get isContested(): boolean {
    return this.contested > 0;
  }

  /** Whether every claimant surely owns what it claims. Cheap. */
  get allHold(): boolean {
    return !this.isContested && !this.hasYielded;
  }

  /**
   * A claim that is there already gets the rank that it has now.
   * @param endsUnexplained whether the claim of unexplained rules ends here
   */
  claim(id: string, owner: ServicePortKey, endsUnexplained = true, rankOf = EQUAL_RANKS): ClaimChange {
    const present = this.claimantsOf.get(id);
    const before = firstOf(present);
    if (isUnexplained(owner)) this.unexplained.add(id);
    else if (endsUnexplained && this.unexplained.delete(id)) this.endUnexplained(id);
    const claimants = present === undefined ? undefined : this.claimantsOf.get(id);
    if (claimants === undefined) this.claimantsOf.set(id, owner);
    else if (typeof claimants === 'object') claimants.add(owner, rankOf(owner));
    else if (claimants !== owner) {
      const several = new Claimants();
      for (const each of [claimants, owner]) several.add(each, rankOf(each));
      this.claimantsOf.set(id, several);
      this.contested++;
    }
    return { before, after: claimants === undefined ? owner : this.ownerOf(id) };
  }

  release(id: string, owner: ServicePortKey): ClaimChange {
    const claimants = this.claimantsOf.get(id);
    if (claimants === owner) {
      this.claimantsOf.delete(id);
      return { before: owner, after: undefined };
    }
    const before = firstOf(claimants);
    if (typeof claimants === 'object') {
      claimants.delete(owner);
      if (claimants.size < 2) {
        this.claimantsOf.set(id, claimants.first!);
        this.contested--;
      }
    }
    return { before, after: this.ownerOf(id) };
  }

  private endUnexplained(id: string): void {
    for (const claimant of this.claimants(id).filter(isUnexplained)) {
      this.release(id, claimant);
      this.hasYielded = true;
    }
  }
}

function firstOf(claimants: ServicePortKey | Claimants | undefined): ServicePortKey | undefined {
  return typeof claimants === 'object' ? claimants.first : claimants;
}

/**
 * Several claimants of one thing, in the order of their ranks, then of their keys. All ports of a Service may claim its cluster IP, so
 * there may be very many.
 */
export class Claimants {
  private readonly ranks = new Map<ServicePortKey, string>();
  private readonly inOrder: ServicePortKey[] = [];

  get size(): number {
    return this.inOrder.length;
  }

  /** Undefined if there is none. */
  get first(): ServicePortKey | undefined {
    return this.inOrder[0];
  }

  /** Adds a claimant, or gives it another rank. */
  add(owner: ServicePortKey, rank = ''): void {
    if (this.ranks.get(owner) === rank) return;
    this.delete(owner);
    this.inOrder.splice(this.placeOf(owner, rank), 0, owner);
    this.ranks.set(owner, rank);
  }

  delete(owner: ServicePortKey): void {
    const rank = this.ranks.get(owner);
    if (rank === undefined) return;
    this.inOrder.splice(this.placeOf(owner, rank), 1);
    this.ranks.delete(owner);
  }

  sorted(): readonly ServicePortKey[] {
    return [...this.inOrder];
  }

  /** How many claimants come before one of this rank and key. */
  private placeOf(owner: ServicePortKey, rank: string): number {
    let [least, most] = [0, this.inOrder.length];
    while (least < most) {
      const middle = (least + most) >> 1;
      const other = this.inOrder[middle]!;
      const otherRank = this.ranks.get(other)!;
      if (otherRank === rank ? other < owner : otherRank < rank) least = middle + 1;
      else most = middle;
    }
    return least;
  }
}

/** Sorts after every service port's key. */
const PREFIX = '~';

/**
 * The owner of unexplained rules.
 * @param label by which the rules in the kernel name their service port
 */
export function unexplainedOwner(label: string): ServicePortKey {
  return PREFIX + label;
}

export function isUnexplained(owner: ServicePortKey): boolean {
  return owner.startsWith(PREFIX);
}

/** The label of the owner of unexplained rules. */
export function labelOf(owner: ServicePortKey): string {
  return owner.slice(PREFIX.length);
}
