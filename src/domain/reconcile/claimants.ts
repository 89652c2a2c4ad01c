import type { ServicePortKey } from '../model/service-port-name.js';

/** Former members may take this many times the room of the present ones. */
const MOST_FORMER = 2;

/**
 * Several claimants of one thing. All ports of a Service claim its cluster IP, so there may be very many: a claim that comes or
 * goes, and the question for the first of them, cost at most the logarithm of their number.
 */
export class Claimants {
  private readonly members = new Set<ServicePortKey>();
  /** No key stands before that of its parent. Former members leave it when they come first. */
  private heap: ServicePortKey[] = [];

  constructor(members: Iterable<ServicePortKey>) {
    for (const member of members) this.add(member);
  }

  get size(): number {
    return this.members.size;
  }

  /** By key. Undefined if there is none. */
  get first(): ServicePortKey | undefined {
    while (this.heap.length > 0 && !this.members.has(this.heap[0]!)) this.removeTop();
    return this.heap[0];
  }

  has(owner: ServicePortKey): boolean {
    return this.members.has(owner);
  }

  add(owner: ServicePortKey): void {
    if (this.members.has(owner)) return;
    this.members.add(owner);
    // What is sorted is a heap.
    if (this.heap.length > MOST_FORMER * this.members.size) this.heap = this.sorted();
    else this.rise(this.heap.push(owner) - 1);
  }

  delete(owner: ServicePortKey): void {
    this.members.delete(owner);
  }

  /** In order. Costs as much as sorting them. */
  sorted(): ServicePortKey[] {
    return [...this.members].sort();
  }

  private rise(place: number): void {
    const { heap } = this;
    for (let parent; place > 0 && heap[place]! < heap[(parent = (place - 1) >> 1)]!; place = parent)
      this.swap(place, parent);
  }

  private removeTop(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    heap[0] = last;
    for (let place = 0; ;) {
      const left = 2 * place + 1;
      const child = left + 1 < heap.length && heap[left + 1]! < heap[left]! ? left + 1 : left;
      if (child >= heap.length || heap[place]! <= heap[child]!) return;
      this.swap(place, child);
      place = child;
    }
  }

  private swap(one: number, other: number): void {
    const { heap } = this;
    [heap[one], heap[other]] = [heap[other]!, heap[one]!];
  }
}
