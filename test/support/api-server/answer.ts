import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { encodeEvent, encodeObject, frame, FRAME_LENGTH } from './protobuf.js';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** Bytes from which real servers compress, too. */
const LARGE = 128 * 1024;

/** How one request is answered: in the encoding that it asks for. */
export class Answer {
  private readonly protobuf: boolean;
  private readonly gzip: boolean;

  /** @param speaksProtobuf whether the server does */
  constructor(
    { headers }: IncomingMessage,
    private readonly response: ServerResponse,
    speaksProtobuf: boolean,
  ) {
    this.protobuf = speaksProtobuf && (headers.accept ?? '').startsWith(PROTOBUF_TYPE);
    this.gzip = headers['accept-encoding'] === 'gzip';
  }

  /** Sends an object, a text as it is, or anything else as JSON. */
  send(code: number, body: unknown, headers: Readonly<Record<string, string>>): void {
    if (typeof body === 'string') {
      this.response.writeHead(code, { 'content-type': 'text/plain', ...headers });
      this.response.end(body);
      return;
    }
    const encoded = this.protobuf ? encodeObject(body as Record<string, unknown>) : undefined;
    const bytes = encoded ?? Buffer.from(JSON.stringify(body));
    const compressed = this.gzip && bytes.length > LARGE;
    this.response.writeHead(code, {
      'content-type': encoded ? PROTOBUF_TYPE : JSON_TYPE,
      ...(compressed && { 'content-encoding': 'gzip' }),
      ...headers,
    });
    this.response.end(compressed ? gzipSync(bytes) : bytes);
  }

  beginWatch(): void {
    this.response.writeHead(200, {
      'content-type': this.protobuf ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE,
    });
    this.response.flushHeaders();
  }

  event(type: string, object: object): Buffer | string {
    return this.protobuf ? frameOf(type, object) : `${JSON.stringify({ type, object })}\n`;
  }

  /** A frame that ends in the middle; or a whole one, of which the content does. */
  tornEvent(type: string, object: object, isFrameWhole: boolean): Buffer {
    const event = Buffer.from(this.event(type, object));
    const half = event.subarray(0, event.length / 2);
    if (!isFrameWhole) return half;
    return this.protobuf ? frame(half.subarray(FRAME_LENGTH)) : Buffer.concat([half, Buffer.from('\n')]);
  }
}

/** Frames of objects that were created, since every watch may begin with them: as real servers, this one encodes once. */
const creations = new WeakMap<object, Buffer>();

function frameOf(type: string, object: object): Buffer {
  const known = type === 'ADDED' ? creations.get(object) : undefined;
  const event = known ?? encodeEvent(type, object as Record<string, unknown>);
  if (type === 'ADDED') creations.set(object, event);
  return event;
}
