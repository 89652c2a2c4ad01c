import type { ServicePortKey } from '../model/service-port-name.js';

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
