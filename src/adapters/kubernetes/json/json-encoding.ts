import type { Encoding, RawEvent, WatchDecoder } from '../encoding/encoding.js';
import { JsonListDecoder } from './json-list-decoder.js';
import { LineDecoder } from './line-decoder.js';

/** Objects as JSON; a watch sends one document in each line. */
export const jsonEncoding: Encoding = {
  listDecoder: (kind) => new JsonListDecoder(`${kind}List`),
  watchDecoder: () => new JsonWatchDecoder(),
  status: (body) => (JSON.parse(body.toString('utf8')) as object | null) ?? {},
};

class JsonWatchDecoder implements WatchDecoder {
  private readonly lines = new LineDecoder();

  push(piece: Buffer): void {
    this.lines.push(piece);
  }

  next(): RawEvent | undefined {
    const line = this.lines.next();
    return line === undefined ? undefined : parse(line);
  }
}

function parse(line: string): RawEvent {
  try {
    return (JSON.parse(line) as RawEvent | null) ?? {};
  } catch (error) {
    throw new SyntaxError(`it is not valid JSON (${JSON.stringify(line.slice(0, 80))})`, { cause: error });
  }
}
