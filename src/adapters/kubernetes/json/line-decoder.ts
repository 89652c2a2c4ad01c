const NEWLINE = 0x0a;

/** An API object is at most 1.5 MiB in etcd; a much longer line is not one. Bytes. */
const MAXIMUM_LINE = 32 * 1024 * 1024;

/** Splits the byte stream of a watch into lines: one JSON document each. */
export class LineDecoder {
  private parts: Buffer[] = [];
  private length = 0;

  /** The lines that this chunk completes, without newlines; empty lines are skipped. Throws SyntaxError on an endless line. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.take(chunk.subarray(start, end));
      start = end + 1;
      if (line.trim()) yield line;
    }
    if (start < chunk.length) this.keep(chunk.subarray(start));
  }

  private take(rest: Buffer): string {
    if (this.parts.length === 0) return rest.toString('utf8');
    const line = Buffer.concat([...this.parts, rest]).toString('utf8');
    this.parts = [];
    this.length = 0;
    return line;
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    if (this.length > MAXIMUM_LINE) throw new SyntaxError(`a line is longer than ${MAXIMUM_LINE} bytes`);
    this.parts.push(part);
  }
}
