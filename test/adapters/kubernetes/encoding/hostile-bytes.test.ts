import fc from 'fast-check';
import type { ResourceKind } from '../../../../src/application/ports/cluster-source.js';
import { protobufEncoding } from '../../../../src/adapters/kubernetes/encoding/protobuf-encoding.js';
import { WireError } from '../../../../src/adapters/kubernetes/encoding/protobuf-message.js';
import { encodeEvent, encodeObject, part, varint } from '../../../support/api-server/protobuf.js';
import { recording } from '../../../support/api-recordings.js';
import { completedBy, readableInto } from '../harness.js';

interface Outcome {
  readonly items: unknown[];
  readonly unreadable: { readonly partial: unknown; readonly problem: string }[];
}

/** Reads a list to its end. Throws what the decoder throws. */
function readList(kind: ResourceKind, bytes: Buffer, chunkSize = bytes.length || 1): Outcome {
  const outcome: Outcome = { items: [], unreadable: [] };
  const decoder = protobufEncoding.listDecoder(kind, {
    add: (object) => outcome.items.push(object),
    addUnreadable: (object) => outcome.unreadable.push(object),
  });
  for (let at = 0; at < bytes.length; at += chunkSize) decoder.push(bytes.subarray(at, at + chunkSize));
  decoder.end();
  return outcome;
}

function readWatch(kind: ResourceKind, bytes: Buffer, chunkSize = bytes.length || 1): unknown[] {
  const events: unknown[] = [];
  const decoder = protobufEncoding.watchDecoder(kind);
  for (let at = 0; at < bytes.length; at += chunkSize)
    events.push(...completedBy(decoder, bytes.subarray(at, at + chunkSize)));
  return events;
}

/** Anything but a result and a WireError fails. */
function tolerates(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
  }
}

const RECORDED = [
  ['services', 'Service'],
  ['endpointslices', 'EndpointSlice'],
  ['endpoints', 'Endpoints'],
  ['node', 'Node'],
  ['servicecidrs', 'ServiceCIDR'],
] as const;

describe.each(RECORDED)('the recorded list %s', (name, kind) => {
  const whole = recording(name, 'pb');
  const at = fc.integer({ min: 0, max: whole.length - 1 });

  it('is refused wherever it is cut off', () => {
    fc.assert(
      // The last four bytes are two empty fields behind the list.
      fc.property(
        fc.integer({ min: 0, max: whole.length - 5 }),
        fc.integer({ min: 1, max: 900 }),
        (end, chunk) => {
          expect(() => readList(kind, whole.subarray(0, end), chunk)).toThrow(WireError);
        },
      ),
    );
  });

  it('with any bytes changed is read or refused', () => {
    const changes = fc.array(fc.tuple(at, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(changes, fc.integer({ min: 1, max: 900 }), (list, chunk) => {
        const changed = Buffer.from(whole);
        for (const [index, byte] of list) changed[index] = byte;
        tolerates(() => readList(kind, changed, chunk));
      }),
      { numRuns: 100 },
    );
  });

  it('with bytes inserted or removed is read or refused', () => {
    fc.assert(
      fc.property(at, fc.nat({ max: 20 }), fc.uint8Array({ maxLength: 20 }), (index, removed, inserted) => {
        const changed = Buffer.concat([whole.subarray(0, index), inserted, whole.subarray(index + removed)]);
        tolerates(() => readList(kind, changed));
      }),
      { numRuns: 100 },
    );
  });
});

it.each(['watch-services', 'watch-expired'])(
  'the recorded %s with any bytes changed is read or refused',
  (name) => {
    const whole = recording(name, 'pb');
    const change = fc.tuple(fc.integer({ min: 0, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 900 }),
        (list, chunk) => {
          const changed = Buffer.from(whole);
          for (const [index, byte] of list) changed[index] = byte;
          tolerates(() => readWatch('Service', changed, chunk));
        },
      ),
      { numRuns: 100 },
    );
  },
);

it('any bytes at all are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, begun) => {
      const body = Buffer.concat([begun ? Buffer.from('k8s\0') : Buffer.alloc(0), bytes]);
      tolerates(() => readList('Service', body, 7));
      tolerates(() => readWatch('Service', body, 7));
      tolerates(() => protobufEncoding.status(body));
    }),
    { numRuns: 200 },
  );
});

/** A list with these bodies of items. */
function list(kind: string, items: readonly Buffer[]): Buffer {
  const raw = Buffer.concat([part(1, part(2, '7')), ...items.map((item) => part(2, item))]);
  return Buffer.concat([Buffer.from('k8s\0'), part(1, part(2, kind)), part(2, raw)]);
}

const metadata = (name: string): Buffer =>
  part(1, Buffer.concat([part(1, name), part(3, 'shop'), part(6, '5')]));

it('an object that is corrupt is reported by its name, and the others are read', () => {
  const corrupt = Buffer.concat([metadata('bad'), part(2, Buffer.from([0x0a, 0x7f]))]);
  const { items, unreadable } = readList(
    'Service',
    list('ServiceList', [metadata('a'), corrupt, metadata('b')]),
  );
  expect(items).toEqual([
    { metadata: { name: 'a', namespace: 'shop', resourceVersion: '5' } },
    { metadata: { name: 'b', namespace: 'shop', resourceVersion: '5' } },
  ]);
  expect(unreadable).toEqual([
    {
      partial: { metadata: { name: 'bad', namespace: 'shop', resourceVersion: '5' } },
      problem: expect.stringContaining('a length beyond the end'),
    },
  ]);
});

it.each([
  ['a field of an impossible number', Buffer.from([0x00, 0x00])],
  ['a group', Buffer.from([0x0b, 0x0c])],
  ['an unknown wire type', Buffer.from([0x0f])],
  ['a number of more than ten bytes', Buffer.from([0x50, ...Array<number>(10).fill(0xff), 0x01])],
  ['a number that is cut off', Buffer.from([0x50, 0xff])],
  ['a length of 4 GiB', Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x0f])],
  ['a negative length', Buffer.concat([Buffer.from([0x12]), varint(-1)])],
  ['fixed bytes that are cut off', Buffer.from([0x51, 0, 0, 0])],
  ['text where a message belongs', part(2, 'text')],
  ['a number where a message belongs', Buffer.from([0x10, 0x01])],
  ['metadata that end behind the object', Buffer.from([0x0a, 0x05, 0x0a])],
  ['a time that no calendar has', part(1, part(9, Buffer.concat([Buffer.from([0x08]), varint(2 ** 60)])))],
])('an object with %s is unreadable', (_, body) => {
  const { items, unreadable } = readList('Service', list('ServiceList', [body, metadata('b')]));
  expect(items).toHaveLength(1);
  expect(unreadable).toHaveLength(1);
});

it('a length inside an object never reaches into the next one', () => {
  const reaching = Buffer.concat([Buffer.from([0x12, 40]), Buffer.alloc(2)]);
  const { items, unreadable } = readList('Service', list('ServiceList', [reaching, metadata('b')]));
  expect([items.length, unreadable.length]).toEqual([1, 1]);
});

it.each([
  ['that is a web page', Buffer.from('<html>')],
  ['that is nothing', Buffer.alloc(0)],
  ['of another kind', list('NodeList', [metadata('a')])],
  ['without a kind', list('', [])],
  ['that is a Status', encodeObject({ kind: 'Status', apiVersion: 'v1', code: 404 })!],
  ['without a version', Buffer.concat([Buffer.from('k8s\0'), part(1, part(2, 'ServiceList')), part(2, '')])],
  ['with a second list', Buffer.concat([list('ServiceList', []), part(2, part(1, part(2, '8')))])],
  [
    'with an item that ends behind the list',
    Buffer.concat([
      Buffer.from('k8s\0'),
      part(1, part(2, 'ServiceList')),
      part(2, Buffer.from([0x12, 0x30])),
      Buffer.alloc(64),
    ]),
  ],
  [
    'with an item of a gigabyte',
    Buffer.concat([
      Buffer.from('k8s\0'),
      part(1, part(2, 'ServiceList')),
      Buffer.from([0x12]),
      varint(2 ** 31),
      Buffer.from([0x12]),
      varint(2 ** 30),
    ]),
  ],
])('a list %s is refused', (_, bytes) => {
  expect(() => readList('Service', bytes, 3)).toThrow(WireError);
});

it('a list hands out nothing before its kind is known', () => {
  const items: unknown[] = [];
  const decoder = protobufEncoding.listDecoder('Service', readableInto(items));
  expect(() => decoder.push(list('NodeList', [metadata('a')]))).toThrow('its kind is "NodeList"');
  expect(items).toEqual([]);
});

describe('an event', () => {
  const event = encodeEvent('ADDED', { kind: 'Service', apiVersion: 'v1', metadata: { name: 'web' } });

  it('comes when its last byte has come', () => {
    const decoder = protobufEncoding.watchDecoder('Service');
    expect([...completedBy(decoder, event.subarray(0, -1))]).toEqual([]);
    expect([...completedBy(decoder, event.subarray(-1))]).toEqual([
      { type: 'ADDED', object: { metadata: { name: 'web' } } },
    ]);
  });

  it.each([
    ['of 4 GiB', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['of another kind', encodeEvent('ADDED', { kind: 'Node', apiVersion: 'v1', metadata: { name: 'web' } })],
    ['that is text', Buffer.from('\0\0\0\x05hello')],
    [
      'whose object is not in an envelope',
      Buffer.concat([Buffer.from([0, 0, 0, 8]), part(2, part(1, 'none'))]),
    ],
  ])('%s is refused', (_, bytes) => {
    expect(() => readWatch('Service', bytes)).toThrow(WireError);
  });

  it('without an object is left to be judged', () => {
    expect(readWatch('Service', Buffer.concat([Buffer.from([0, 0, 0, 0])]))).toEqual([{ type: undefined }]);
  });
});
