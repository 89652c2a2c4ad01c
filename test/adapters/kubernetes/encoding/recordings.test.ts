import type { ResourceKind } from '../../../../src/application/ports/cluster-source.js';
import type { Encoding, RawEvent } from '../../../../src/adapters/kubernetes/encoding/encoding.js';
import { jsonEncoding } from '../../../../src/adapters/kubernetes/encoding/json-encoding.js';
import { protobufEncoding } from '../../../../src/adapters/kubernetes/encoding/protobuf-encoding.js';
import { checkEvent } from '../../../../src/adapters/kubernetes/watch/open-watch.js';
import { readEndpointSlice, readEndpoints } from '../../../../src/domain/decode/read-endpoint-slice.js';
import { readNode } from '../../../../src/domain/decode/read-node.js';
import { readServiceCidr } from '../../../../src/domain/decode/read-service-cidr.js';
import { readService } from '../../../../src/domain/decode/read-service.js';
import { recording } from '../../../support/api-recordings.js';
import { completedBy, readableInto } from '../harness.js';

const READERS: Record<ResourceKind, (raw: unknown) => unknown> = {
  Service: readService,
  EndpointSlice: (raw) => readEndpointSlice(raw, 'clnode1'),
  Endpoints: (raw) => readEndpoints(raw, 'clnode1'),
  Node: readNode,
  ServiceCIDR: readServiceCidr,
};

interface Metadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly annotations?: Record<string, string>;
}

function identity(object: unknown): Metadata {
  const { name, namespace, resourceVersion } = (object as { metadata: Metadata }).metadata;
  return { name, namespace, resourceVersion };
}

function readList(encoding: Encoding, kind: ResourceKind, bytes: Buffer, chunkSize: number) {
  const items: unknown[] = [];
  const decoder = encoding.listDecoder(kind, readableInto(items));
  for (let at = 0; at < bytes.length; at += chunkSize) decoder.push(bytes.subarray(at, at + chunkSize));
  return { ...decoder.end(), items };
}

function readWatch(encoding: Encoding, kind: ResourceKind, bytes: Buffer, chunkSize: number): RawEvent[] {
  const decoder = encoding.watchDecoder(kind);
  const events: RawEvent[] = [];
  for (let at = 0; at < bytes.length; at += chunkSize)
    events.push(...completedBy(decoder, bytes.subarray(at, at + chunkSize)));
  return events;
}

describe.each([
  ['services', 'Service', 8],
  ['services-page-1', 'Service', 3],
  ['endpointslices', 'EndpointSlice', 8],
  ['endpoints', 'Endpoints', 4],
  ['servicecidrs', 'ServiceCIDR', 1],
  ['node', 'Node', 1],
] as const)('the list %s', (name, kind, size) => {
  const json = readList(jsonEncoding, kind, recording(name, 'json'), 1000);

  it.each([1, 7, 100, 1_000_000])(
    'gives the same model in both encodings, in chunks of %i bytes',
    (chunk) => {
      const protobuf = readList(protobufEncoding, kind, recording(name, 'pb'), chunk);
      expect(protobuf.items).toHaveLength(size);
      expect(protobuf.items.map(identity)).toEqual(json.items.map(identity));
      expect(protobuf.items.map(READERS[kind])).toEqual(json.items.map(READERS[kind]));
      // Both were recorded one after the other.
      expect(protobuf.resourceVersion).toMatch(/^\d+$/);
      expect(protobuf.continue === '').toBe(json.continue === '');
    },
  );
});

describe.each([
  ['watch-services', 'Service'],
  ['watch-endpointslices', 'EndpointSlice'],
] as const)('the watch %s', (name, kind) => {
  const changes = (events: readonly RawEvent[]): unknown[] =>
    events
      .filter(({ type }) => type !== 'BOOKMARK')
      .map(({ type, object }) => ({ type, ...identity(object), model: READERS[kind](object) }));

  it.each([1, 7, 100, 1_000_000])(
    'gives the same events in both encodings, in chunks of %i bytes',
    (chunk) => {
      const json = readWatch(jsonEncoding, kind, recording(name, 'json'), 1000);
      const protobuf = readWatch(protobufEncoding, kind, recording(name, 'pb'), chunk);
      expect(changes(protobuf)).toEqual(changes(json));
      const [end, ...later] = protobuf.filter(({ type }) => type === 'BOOKMARK').map(({ object }) => object);
      expect((end as { metadata: Metadata }).metadata).toEqual({
        resourceVersion: expect.stringMatching(/^\d+$/),
        annotations: { 'k8s.io/initial-events-end': 'true' },
      });
      expect(later.length).toBeGreaterThan(0);
    },
  );
});

describe.each([
  ['JSON', jsonEncoding, 'json'],
  ['protobuf', protobufEncoding, 'pb'],
] as const)('in %s', (_, encoding, suffix) => {
  it('an expired watch is an error 410', () => {
    const [event] = readWatch(encoding, 'Service', recording('watch-expired', suffix), 50);
    expect(() => checkEvent(event!, 'watch')).toThrow(
      expect.objectContaining({ code: 410, reason: 'Expired', expired: true }),
    );
  });

  it.each([
    ['error-not-found', { code: 404, reason: 'NotFound', message: 'services "none" not found' }],
    ['error-bad-continue', { code: 400, reason: 'BadRequest' }],
  ])('%s is understood', (name, expected) => {
    expect(encoding.status(recording(name, suffix))).toMatchObject(expected);
  });
});
