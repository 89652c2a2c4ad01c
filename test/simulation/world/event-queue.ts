/** Something that is to happen at a time. */
export interface Timed {
  readonly at: number;
  /** Of events at one time, the lower comes first. */
  readonly order: number;
}

/** What is to happen, the next first: a binary heap. */
export class EventQueue<T extends Timed> {
  private readonly heap: T[] = [];

  get next(): T | undefined {
    return this.heap[0];
  }

  add(event: T): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  take(): T | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.heap[Symbol.iterator]();
  }
}

function isBefore(one: Timed, other: Timed): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
