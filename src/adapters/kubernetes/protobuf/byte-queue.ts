const EMPTY: Buffer = Buffer.alloc(0);

/** Bytes that have arrived and have not been read. Gives parts of any size, however they arrived. */
export class ByteQueue {
  /** How many bytes wait. */
  length = 0;
  private head = EMPTY;
  private tail: Buffer[] = [];

  push(chunk: Buffer): void {
    if (this.length === 0) this.head = chunk;
    else this.tail.push(chunk);
    this.length += chunk.length;
  }

  /** The first bytes, at least `size` of them unless fewer wait; they stay. */
  peek(size: number): Buffer {
    this.gather(Math.min(size, this.length));
    return this.head;
  }

  /** Takes the first `size` bytes; undefined while there are fewer. */
  take(size: number): Buffer | undefined {
    if (size > this.length) return undefined;
    this.gather(size);
    const { head } = this;
    this.length -= size;
    // Most pieces are one event.
    if (head.length === size) {
      this.head = EMPTY;
      return head;
    }
    this.head = head.subarray(size);
    return head.subarray(0, size);
  }

  private gather(size: number): void {
    if (this.head.length >= size) return;
    this.head = Buffer.concat([this.head, ...this.tail]);
    this.tail = [];
  }
}
