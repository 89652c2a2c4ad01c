/** Which service port owns a frontend when several claim it. */

import type { ServicePortKey } from '../model/service-port-name.js';

/** Two service ports claim one frontend. The holder's clients are served. */
export interface FrontendConflict {
  /** For people: `10.96.0.10:53/UDP`. */
  readonly frontend: string;
  readonly holder: ServicePortKey;
  readonly loser: ServicePortKey;
}

/** The holder before a change and after it. */
export interface ClaimChange {
  readonly before: ServicePortKey | undefined;
  readonly after: ServicePortKey | undefined;
}

const NO_CLAIMANTS: readonly ServicePortKey[] = [];

/** The rank of a claimant among those of one thing. Asked for only where there are several. */
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

  /** In order, the holder first. */
  claimants(id: string): readonly ServicePortKey[] {
    const claimants = this.claimantsOf.get(id);
    if (claimants === undefined) return NO_CLAIMANTS;
    return typeof claimants === 'string' ? [claimants] : claimants.sorted();
  }

  holder(id: string): ServicePortKey | undefined {
    return firstOf(this.claimantsOf.get(id));
  }

  /** Whether anything has several claimants. Cheap. */
  get isContested(): boolean {
    return this.contested > 0;
  }

  /** Whether every claimant surely holds what it claims. Cheap. */
  get allHold(): boolean {
    return !this.isContested && !this.hasYielded;
  }

  /**
   * A claim that is there already gets the rank that it has now.
   * @param givesWay whether the claim of unexplained rules ends here
   */
  claim(id: string, owner: ServicePortKey, givesWay = true, rankOf = EQUAL_RANKS): ClaimChange {
    const present = this.claimantsOf.get(id);
    const before = firstOf(present);
    if (isUnexplained(owner)) this.unexplained.add(id);
    else if (givesWay && this.unexplained.delete(id)) this.endUnexplained(id);
    const claimants = present === undefined ? undefined : this.claimantsOf.get(id);
    if (claimants === undefined) this.claimantsOf.set(id, owner);
    else if (typeof claimants === 'object') claimants.add(owner, rankOf(owner));
    else if (claimants !== owner) {
      const several = new Claimants();
      for (const each of [claimants, owner]) several.add(each, rankOf(each));
      this.claimantsOf.set(id, several);
      this.contested++;
    }
    return { before, after: claimants === undefined ? owner : this.holder(id) };
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
    return { before, after: this.holder(id) };
  }

  /** The conflicts about one thing, reported as `frontend`. */
  conflicts(id: string, frontend: string): readonly FrontendConflict[] {
    if (typeof this.claimantsOf.get(id) !== 'object') return [];
    const [holder, ...losers] = this.claimants(id);
    return losers.map((loser) => ({ frontend, holder: holder!, loser }));
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

/** Deleted claims may take this many times the memory of the present ones. */
const MOST_DELETED = 2;

interface Claim {
  readonly owner: ServicePortKey;
  readonly rank: string;
}

/**
 * Several claimants of one thing, in the order of their ranks, then of their keys. All ports of a Service claim its cluster IP, so
 * there may be very many: to add or delete a claim, and to find the first, costs at most the logarithm of their number.
 */
export class Claimants {
  private readonly members = new Map<ServicePortKey, Claim>();
  /** No claim comes before its parent. A deleted claim leaves when it comes first. */
  private heap: Claim[] = [];

  get size(): number {
    return this.members.size;
  }

  /** Undefined if there is none. */
  get first(): ServicePortKey | undefined {
    while (this.heap.length > 0 && !this.isPresent(this.heap[0]!)) this.removeTop();
    return this.heap[0]?.owner;
  }

  has(owner: ServicePortKey): boolean {
    return this.members.has(owner);
  }

  /** Adds a claimant, or gives it another rank. */
  add(owner: ServicePortKey, rank = ''): void {
    if (this.members.get(owner)?.rank === rank) return;
    const claim: Claim = { owner, rank };
    this.members.set(owner, claim);
    // A sorted list is a heap.
    if (this.heap.length > MOST_DELETED * this.members.size) this.heap = this.sortedClaims();
    else this.rise(this.heap.push(claim) - 1);
  }

  delete(owner: ServicePortKey): void {
    this.members.delete(owner);
  }

  /** In order. Costs as much as sorting them. */
  sorted(): ServicePortKey[] {
    return this.sortedClaims().map(({ owner }) => owner);
  }

  private sortedClaims(): Claim[] {
    return [...this.members.values()].sort((one, other) => (comesBefore(one, other) ? -1 : 1));
  }

  private isPresent(claim: Claim): boolean {
    return this.members.get(claim.owner) === claim;
  }

  private rise(place: number): void {
    const { heap } = this;
    for (
      let parent;
      place > 0 && comesBefore(heap[place]!, heap[(parent = (place - 1) >> 1)]!);
      place = parent
    )
      this.swap(place, parent);
  }

  private removeTop(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    heap[0] = last;
    for (let place = 0; ;) {
      const left = 2 * place + 1;
      const hasRight = left + 1 < heap.length;
      const child = hasRight && comesBefore(heap[left + 1]!, heap[left]!) ? left + 1 : left;
      if (child >= heap.length || !comesBefore(heap[child]!, heap[place]!)) return;
      this.swap(place, child);
      place = child;
    }
  }

  private swap(one: number, other: number): void {
    const { heap } = this;
    [heap[one], heap[other]] = [heap[other]!, heap[one]!];
  }
}

function comesBefore(one: Claim, other: Claim): boolean {
  return one.rank === other.rank ? one.owner < other.owner : one.rank < other.rank;
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
