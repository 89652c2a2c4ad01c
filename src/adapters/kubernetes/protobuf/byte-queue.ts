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

  /** The first bytes, at most `size` of them; they stay. */
  peek(size: number): Buffer {
    this.gather(Math.min(size, this.length));
    return this.head.subarray(0, size);
  }

  /** Takes the first `size` bytes; undefined while there are fewer. */
  take(size: number): Buffer | undefined {
    if (size > this.length) return undefined;
    this.gather(size);
    const taken = this.head.subarray(0, size);
    this.head = this.head.subarray(size);
    this.length -= size;
    return taken;
  }

  private gather(size: number): void {
    if (this.head.length >= size) return;
    this.head = Buffer.concat([this.head, ...this.tail]);
    this.tail = [];
  }
}
