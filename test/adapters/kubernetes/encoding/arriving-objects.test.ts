import { setImmediate as turn } from 'node:timers/promises';
import type { Encoding } from '../../../../src/adapters/kubernetes/encoding/encoding.js';
import { jsonEncoding } from '../../../../src/adapters/kubernetes/encoding/json-encoding.js';
import { protobufEncoding } from '../../../../src/adapters/kubernetes/encoding/protobuf-encoding.js';
import { collectGarbage } from '../../../../src/adapters/process/own-process.js';
import { encodeEvent, encodeObject } from '../../../support/api-server/protobuf.js';
import { completedBy, readableInto, service } from '../harness.js';

/** Bytes; several to an object, so that each object comes in parts. */
const CHUNK = 100;
const COUNT = 200;
/** Bytes of a list around its items. */
const ENVELOPE = 120;

/** All of the same size. */
const objects = Array.from({ length: COUNT }, (_, index) => {
  const { metadata, ...rest } = service(`web-${1000 + index}`, { externalName: 'x'.repeat(500) });
  return { ...rest, metadata: { ...metadata, namespace: 'default', resourceVersion: `${5000 + index}` } };
});
const list = { kind: 'ServiceList', apiVersion: 'v1', metadata: { resourceVersion: '9000' }, items: objects };

interface Arrival {
  readonly body: Buffer;
  /** What a chunk completes. */
  readonly push: (chunk: Buffer) => Iterable<unknown>;
}

function arrivalOf(encoding: Encoding, listing: string): Arrival {
  const json = encoding === jsonEncoding;
  if (listing === 'pages') {
    const items: unknown[] = [];
    const decoder = encoding.listDecoder('Service', readableInto(items));
    const push = (chunk: Buffer): unknown[] => {
      decoder.push(chunk);
      return items.splice(0);
    };
    return { body: encodeObject(list)!, push };
  }
  const events = objects.map((object) =>
    json
      ? Buffer.from(`${JSON.stringify({ type: 'ADDED', object })}\n`)
      : encodeEvent('ADDED', object as Parameters<typeof encodeEvent>[1]),
  );
  const decoder = encoding.watchDecoder('Service');
  return { body: Buffer.concat(events), push: (chunk) => completedBy(decoder, chunk) };
}

/** The body in parts that share no memory with each other. */
function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += CHUNK)
    yield Buffer.from(Uint8Array.from(body.subarray(at, at + CHUNK)).buffer);
}

describe.each([
  ['JSON', 'streams', jsonEncoding],
  ['protobuf', 'pages', protobufEncoding],
  ['protobuf', 'streams', protobufEncoding],
] as const)('a list over %s in %s', (_, listing, encoding) => {
  it('hands out each object as soon as it is there: never more than one waits', () => {
    const { body, push } = arrivalOf(encoding, listing);
    const size = (body.length - ENVELOPE) / COUNT;
    let waiting = 0;
    for (const chunk of chunksOf(body)) {
      waiting += chunk.length;
      for (const object of push(chunk)) {
        expect(object).toBeDefined();
        waiting -= size;
      }
      expect(waiting).toBeLessThan(size + 2 * ENVELOPE);
    }
  });

  it('keeps none of the bytes of what it has handed out', async () => {
    const { body, push } = arrivalOf(encoding, listing);
    const arrived: WeakRef<ArrayBufferLike>[] = [];
    const handedOut: unknown[] = [];
    for (const chunk of chunksOf(body.subarray(0, body.length / 2))) {
      arrived.push(new WeakRef(chunk.buffer));
      handedOut.push(...push(chunk));
    }
    await turn();
    await collectGarbage();
    const kept = arrived.filter((chunk) => chunk.deref() !== undefined).length * CHUNK;
    expect(handedOut.length).toBeGreaterThan(COUNT / 2 - 3);
    // What comes next belongs to the object that is not complete, or to the envelope.
    expect([...push(body.subarray(body.length / 2))]).toHaveLength(COUNT - handedOut.length);
    expect(kept).toBeLessThan(body.length / COUNT + 2 * CHUNK + ENVELOPE);
  });
});
