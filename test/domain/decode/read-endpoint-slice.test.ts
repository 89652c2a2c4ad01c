import { readEndpointSlice } from '../../../src/domain/decode/read-endpoint-slice.js';
import { rawSlice } from '../../support/objects.js';

const read = (fields: object, metadata: object = {}, nodeName = 'n1') =>
  readEndpointSlice(rawSlice(fields, metadata), nodeName);
const endpointOf = (endpoint: object, nodeName = 'n1') =>
  read({ endpoints: [{ addresses: ['10.244.1.5'], ...endpoint }] }, {}, nodeName).value?.ports[0]
    ?.endpoints[0];
const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';

describe('slices that are seen (docs/internals/spec/model.md §3.1)', () => {
  it.each([
    [
      'headless',
      {},
      { labels: { 'service.kubernetes.io/headless': '', 'kubernetes.io/service-name': 'cart' } },
      'headless',
    ],
    ['no Service', {}, { labels: {} }, 'unlabeled'],
    ['no labels', {}, { labels: undefined }, 'unlabeled'],
    ['an empty Service', {}, { labels: { 'kubernetes.io/service-name': '' } }, 'unlabeled'],
    ['FQDN', { addressType: 'FQDN' }, {}, 'address-type'],
    ['no address type', { addressType: undefined }, {}, 'address-type'],
  ])('ignores: %s', (_, fields, metadata, reason) => {
    const { value, ignored, problems } = read(fields, metadata);
    expect(value).toBeUndefined();
    expect(ignored).toBe(reason);
    expect(problems).toEqual([]);
  });

  it('belongs to the Service that its label names, in its own namespace', () => {
    expect(read({}).value).toMatchObject({
      namespace: 'shop',
      name: 'cart-1',
      service: 'cart',
      family: 'IPv4',
    });
  });
});

describe('ports of slices (docs/internals/spec/model.md §3.3)', () => {
  it('an empty name is a name, a missing one is not; a port without a number is ignored; TCP is the default', () => {
    const { value, problems, notes } = read({
      ports: [
        { name: '', port: 80 },
        { name: null, port: 81 },
        { port: 82 },
        { name: 'a' },
        { name: 'b', port: null },
        { name: 'c', port: 0 },
        { name: 'd', port: 65535, protocol: 'UDP' },
      ],
    });
    expect(value?.ports).toMatchObject([
      { name: '', protocol: 'TCP', endpoints: [{ port: 80 }] },
      { name: 'd', protocol: 'UDP', endpoints: [{ port: 65535 }] },
    ]);
    expect(problems).toEqual([]);
    expect(notes).toEqual([
      'ports[1] has no name; ignored',
      'ports[2] has no name; ignored',
      'ports[3] has no port number; ignored',
      'ports[4] has no port number; ignored',
      'ports[5] has no port number; ignored',
    ]);
  });
});

describe('endpoints of slices (docs/internals/spec/model.md §3.3)', () => {
  it('takes the first address, canonical; one without addresses is ignored', () => {
    const { value, problems } = read({
      endpoints: [{ addresses: ['010.244.1.05', '10.244.1.6'] }, { addresses: [] }, {}],
    });
    expect(value?.ports[0]?.endpoints.map(({ address }) => address)).toEqual(['10.244.1.5']);
    expect(problems).toEqual([
      'endpoints[1] has no address; ignored',
      'endpoints[2] has no address; ignored',
    ]);
  });

  it('ignores addresses that no endpoint may have, by name', () => {
    const { value, problems } = read({
      endpoints: [
        { addresses: ['127.0.0.1'] },
        { addresses: ['169.254.169.254'] },
        { addresses: ['239.0.0.1'] },
        { addresses: ['10.244.1.5'] },
      ],
    });
    expect(value?.ports[0]?.endpoints.map(({ address }) => address)).toEqual(['10.244.1.5']);
    expect(problems).toEqual([
      'endpoints[0].addresses[0] "127.0.0.1" is loopback; ignored',
      'endpoints[1].addresses[0] "169.254.169.254" is link-local; ignored',
      'endpoints[2].addresses[0] "239.0.0.1" is multicast; ignored',
    ]);
  });

  it('reads IPv6', () => {
    const { value } = read({ addressType: 'IPv6', endpoints: [{ addresses: ['FD00::0:5'] }] });
    expect(value).toMatchObject({ family: 'IPv6', ports: [{ endpoints: [{ address: 'fd00::5' }] }] });
  });

  it('has defaults for conditions, hints and node', () => {
    const defaults = {
      isLocal: false,
      ready: true,
      serving: true,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
    };
    for (const bare of [
      {},
      { conditions: null, hints: null, nodeName: null },
      { conditions: {}, hints: {} },
      {
        conditions: { ready: null, serving: null, terminating: null },
        hints: { forZones: null, forNodes: null },
      },
    ]) {
      expect(endpointOf(bare)).toEqual({
        address: '10.244.1.5',
        port: 8080,
        ...defaults,
      });
    }
  });

  it('reads conditions and hints', () => {
    expect(
      endpointOf({
        conditions: { ready: false, serving: false, terminating: true },
        hints: { forZones: [{ name: 'a' }, { name: 'b' }], forNodes: [{ name: 'n1' }] },
      }),
    ).toMatchObject({
      ready: false,
      serving: false,
      terminating: true,
      zoneHints: ['a', 'b'],
      nodeHints: ['n1'],
    });
  });

  it('reads pod, node and zone; what is missing or empty, or no pod, is left out', () => {
    const pod = { kind: 'Pod', namespace: 'shop', name: 'cart-7f9' };
    const all = { targetRef: pod, nodeName: 'n2', zone: 'a' };
    expect(endpointOf(all)).toMatchObject({ pod: 'cart-7f9', nodeName: 'n2', zone: 'a', isLocal: false });
    const bare = endpointOf({});
    expect(Object.keys(bare!)).not.toEqual(expect.arrayContaining(['pod']));
    for (const targetRef of [
      { ...pod, kind: 'VirtualMachine' },
      { ...pod, name: '' },
      { kind: 'Pod' },
      {},
      null,
    ])
      expect(endpointOf({ targetRef, nodeName: '', zone: '' })).toEqual(bare);
    expect(read({ endpoints: [{ addresses: ['10.244.1.5'], targetRef: 'cart-7f9' }] }).problems).toEqual([
      expect.stringContaining('endpoints[0].targetRef'),
    ]);
  });

  it.each([
    ['n1', 'n1', true],
    ['n2', 'n1', false],
    ['', '', false],
    [undefined, '', false],
  ])('on node %s seen from %j: local %s', (nodeName, own, expected) => {
    expect(endpointOf({ nodeName }, own)?.isLocal).toBe(expected);
  });
});

it('gives its endpoints the weight of the slice', () => {
  const weighing = (weight: unknown) => read({}, { annotations: { 'kube-proxy-ts/weight': weight } });
  const weights = ({ value }: ReturnType<typeof read>) =>
    value!.ports.flatMap(({ endpoints }) => endpoints.map(({ weight }) => weight));
  expect(new Set(weights(weighing('250')))).toEqual(new Set([250]));
  expect(weights(read({})).every((weight) => weight === undefined)).toBe(true);
  const { notes, ...heavy } = weighing('heavy');
  expect(weights({ ...heavy, notes })).toEqual(weights(read({})));
  expect(notes).toEqual([expect.stringContaining('kube-proxy-ts/weight')]);
});

describe('trigger time (docs/internals/spec/model.md §8)', () => {
  const at = (text: unknown) => read({}, { annotations: { [TRIGGER]: text } });

  it.each([
    ['2024-05-01T12:00:00Z', '2024-05-01T12:00:00.000Z'],
    ['2024-05-01T12:00:00.123456789Z', '2024-05-01T12:00:00.123Z'],
    ['2024-05-01T14:00:00.5+02:00', '2024-05-01T12:00:00.500Z'],
  ])('reads %s', (text, iso) => {
    const { value, problems } = at(text);
    expect(new Date(value!.triggerTime!).toISOString()).toBe(iso);
    expect(problems).toEqual([]);
  });

  it.each(['yesterday', '', '2024-05-01', '2024-13-01T12:00:00Z', 5])(
    'reports %j and uses the slice',
    (text) => {
      const { value, problems, notes } = at(text);
      expect(value).not.toHaveProperty('triggerTime');
      expect([problems, notes]).toEqual([[], [expect.stringContaining(TRIGGER)]]);
    },
  );

  it('may be missing', () => {
    expect(read({}).value).not.toHaveProperty('triggerTime');
    expect(read({}).problems).toEqual([]);
  });
});

describe('an invalid slice is rejected with its field', () => {
  it.each([
    ['ports', { ports: {} }],
    ['ports[0]', { ports: ['http'] }],
    ['ports[0].name', { ports: [{ name: 'a b', port: 1 }] }],
    ['ports[0].port', { ports: [{ name: '', port: -1 }] }],
    ['ports[0].port', { ports: [{ name: '', port: 65536 }] }],
    ['ports[0].protocol', { ports: [{ name: '', port: 1, protocol: 'ICMP' }] }],
    ['endpoints', { endpoints: 'x' }],
    ['endpoints[0]', { endpoints: [[]] }],
    ['endpoints[0].addresses', { endpoints: [{ addresses: '10.0.0.1' }] }],
    ['endpoints[0].addresses[0]', { endpoints: [{ addresses: ['10.0.0.1; drop'] }] }],
    ['endpoints[0].addresses[0]', { endpoints: [{ addresses: ['fd00::1'] }] }],
    ['endpoints[0].addresses[0]', { addressType: 'IPv6', endpoints: [{ addresses: ['::ffff:10.0.0.1'] }] }],
    ['endpoints[0].addresses[1]', { endpoints: [{ addresses: ['10.0.0.1', '10.0.0'] }] }],
    ['endpoints[0].nodeName', { endpoints: [{ addresses: ['10.0.0.1'], nodeName: 7 }] }],
    [
      'endpoints[1].conditions.ready',
      {
        endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'], conditions: { ready: 'false' } }],
      },
    ],
    [
      'endpoints[0].conditions.serving',
      { endpoints: [{ addresses: ['10.0.0.1'], conditions: { serving: 0 } }] },
    ],
    [
      'endpoints[0].conditions.terminating',
      { endpoints: [{ addresses: ['10.0.0.1'], conditions: { terminating: 'true' } }] },
    ],
    ['endpoints[0].conditions', { endpoints: [{ addresses: ['10.0.0.1'], conditions: 'ready' }] }],
    ['endpoints[0].hints.forZones', { endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: 'a' } }] }],
    [
      'endpoints[0].hints.forZones[0]',
      { endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: ['a'] } }] },
    ],
    [
      'endpoints[0].hints.forNodes[1].name',
      { endpoints: [{ addresses: ['10.0.0.1'], hints: { forNodes: [{ name: 'a' }, { name: 7 }] } }] },
    ],
    ['metadata', { metadata: 'x' }],
  ])('%s in %j', (field, fields) => {
    const { value, ignored, problems } = read(fields);
    expect([value, ignored]).toEqual([undefined, undefined]);
    expect(problems[0]?.split(' ')[0]).toBe(field);
  });

  it.each([
    ['metadata.name', { name: 'A' }],
    ['metadata.name', { name: undefined }],
    ['metadata.namespace', { namespace: '' }],
    ['metadata.labels[kubernetes.io/service-name]', { labels: { 'kubernetes.io/service-name': 'a/b' } }],
    ['metadata.labels', { labels: ['x'] }],
    ['metadata.annotations', { annotations: 'x' }],
  ])('%s in metadata %j', (field, metadata) => {
    const { value, ignored, problems } = read({}, metadata);
    expect([value, ignored]).toEqual([undefined, undefined]);
    expect(problems[0]).toContain(field);
  });
});
