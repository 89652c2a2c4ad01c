import { nftablesBackend } from '../../support/backends.js';
import fc from 'fast-check';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { BatchEncoder } from '../../../src/adapters/nftables/netlink/batch-encoder.js';
import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import { rawName } from '../../../src/application/use-cases/object-reports.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { LOCAL_ADDRESSES, NODE } from '../../support/nftables/cluster-arbitraries.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';
import { USUAL_SETTINGS } from '../../support/usual-settings.js';
import { anyText } from '../../support/any-text.js';

/** Objects as they should be, with something in every field that is read, and in some that are not. */
const TEMPLATES: Readonly<Record<ResourceKind, object>> = {
  Service: {
    metadata: { namespace: 'ns', name: 'web', labels: { app: 'web' }, annotations: {} },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '172.30.0.1',
      clusterIPs: ['172.30.0.1', 'fd00:10:96::1'],
      ipFamilies: ['IPv4', 'IPv6'],
      ports: [
        { name: 'http', protocol: 'TCP', port: 80, nodePort: 30001 },
        { name: 'dns', protocol: 'UDP', port: 53 },
      ],
      externalIPs: ['192.0.2.1', '2001:db8:5::1'],
      loadBalancerSourceRanges: ['203.0.113.0/24', '2001:db8::/32'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Cluster',
      healthCheckNodePort: 32000,
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 30 } },
    },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.2', ipMode: 'VIP' }, { hostname: 'x' }] } },
  },
  EndpointSlice: {
    metadata: {
      namespace: 'ns',
      name: 'web-1',
      labels: { 'kubernetes.io/service-name': 'web' },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00.5Z' },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [
      {
        addresses: ['10.244.1.5'],
        nodeName: NODE,
        conditions: { ready: true, serving: true, terminating: false },
        hints: { forZones: [{ name: 'zone-a' }], forNodes: [{ name: NODE }] },
      },
      { addresses: ['10.244.2.6'] },
    ],
  },
  Endpoints: {
    metadata: { namespace: 'ns', name: 'web' },
    subsets: [
      {
        addresses: [{ ip: '10.244.1.7', nodeName: NODE }],
        notReadyAddresses: [{ ip: 'fd00:10:244:1::7' }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ],
  },
  Node: {
    metadata: { name: NODE, labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
    spec: { podCIDRs: ['10.244.1.0/24'], taints: [{ key: 'x' }] },
    status: { addresses: [{ type: 'InternalIP', address: '198.51.100.11' }] },
  },
  ServiceCIDR: { metadata: { name: 'kubernetes' }, spec: { cidrs: ['172.30.0.0/16', 'fd00:10:96::/112'] } },
};

const KINDS = Object.keys(TEMPLATES) as ResourceKind[];

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n',
    'web\nadd rule ip kube-proxy services drop',
    'web"; flush ruleset; "',
    '} flush ruleset {',
    '$(reboot)',
    '`reboot`',
    "'; reboot #",
    '10.244.1.5\n10.244.1.6',
    '10.244.1.5 . 80 : drop',
    '10.244.1.5;',
    '10.244.1.5/0',
    '0x0a.1.2.3',
    '010.244.001.005',
    '1.2.3',
    '999999999.1.1.1',
    '::1%eth0',
    '[::1]',
    '::ffff:10.0.0.1',
    'fd00::1\n',
    'fd00::1 ',
    '１０.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/0000000000',
    '::/129',
    'IPv4',
    'IPv6',
    'FQDN',
    'None',
    'ExternalName',
    'Local',
    'ClientIP',
    'TCP',
    'tcp',
    'SCTP',
    '80',
    '1e3',
    'zürich',
    'a\u0000b',
    '\u202egnp.exe',
    '\ud800',
    '../../etc/passwd',
    'a/b',
    '__proto__',
    'constructor',
    'toString',
    'a'.repeat(63),
    'a'.repeat(64),
    'a'.repeat(20_000),
    '@endpoints',
    'goto services',
  ),
  anyText(20),
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
);

const proto = (value: unknown): unknown => JSON.parse(`{"__proto__":${JSON.stringify(value)},"length":3}`);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: hostileText },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      undefined,
      true,
      false,
      0,
      -0,
      -1,
      1.5,
      65535,
      65536,
      86401,
      2 ** 53,
      Infinity,
      NaN,
      [],
      {},
      [[]],
      [null],
      [{}],
      { length: 1, 0: 'x' },
      proto({ name: 'web', ip: '10.0.0.1' }),
      proto(null),
    ),
  },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    ...(path.length > 0 ? [path] : []),
    ...Object.entries(value).flatMap(([key, inner]) =>
      pathsOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

function withValue(value: unknown, [first, ...rest]: Path, replacement: unknown): unknown {
  if (first === undefined) return replacement;
  if (typeof value !== 'object' || value === null) return value;
  const inner = withValue((value as Record<string | number, unknown>)[first], rest, replacement);
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === first ? inner : item));
  return { ...value, [first]: inner };
}

const hostileObject: fc.Arbitrary<{ kind: ResourceKind; object: unknown }> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(...KINDS).chain((kind) =>
      fc
        .array(fc.tuple(fc.constantFrom(...pathsOf(TEMPLATES[kind])), hostileValue), {
          minLength: 1,
          maxLength: 3,
        })
        .map((changes) => ({
          kind,
          object: changes.reduce<unknown>(
            (object, [path, value]) => withValue(object, path, value),
            TEMPLATES[kind],
          ),
        })),
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom(...KINDS), object: hostileValue }) },
);

const SETTINGS: NodeSettings = {
  ...USUAL_SETTINGS,
  nodeName: NODE,
  localTraffic: { ...USUAL_SETTINGS.localTraffic, mode: 'NodeCIDR', clusterCIDRs: [] },
};

/** Everything that a line of a table may consist of; no quote, but those around a comment. */
const SAFE_LINE = /^[A-Za-z0-9 _.:/@{},;|&^=!<>*()+-]*$/;
const COMMENT = / comment "[A-Za-z0-9 .:/@_-]{1,128}"/g;

function newProxy(kernel: MemoryNftTransport): InMemoryProxy {
  const generations = new GenerationWatch(kernel);
  return new InMemoryProxy(
    IP_FAMILIES.map((family) => nftablesBackend(family, kernel, generations, new MemoryLogger())),
    SETTINGS,
    () => LOCAL_ADDRESSES,
  );
}

function expectWritable(kernel: MemoryNftTransport): void {
  for (const family of IP_FAMILIES)
    for (const line of kernel.dump(family).replaceAll('\t', ' ').split('\n'))
      if (!SAFE_LINE.test(line.replace(COMMENT, ''))) throw new Error(`unsafe line: ${JSON.stringify(line)}`);
  for (const { family, operations } of kernel.commits) {
    const writer = new MessageWriter();
    const encoding = new BatchEncoder(writer, family, 1).encode(operations);
    while (!encoding.next().done);
    expect(writer.length).toBeGreaterThan(0);
  }
}

describe('hostile objects', () => {
  it('never throw, are reported by name, and never reach the kernel', async () => {
    const kernel = new MemoryNftTransport();
    const proxy = newProxy(kernel);
    for (const kind of KINDS) proxy.events.applied(kind, TEMPLATES[kind]);
    await proxy.sync();
    expectWritable(kernel);
    await fc.assert(
      fc.asyncProperty(fc.array(hostileObject, { minLength: 1, maxLength: 6 }), async (objects) => {
        kernel.resetCounts();
        for (const { kind, object } of objects) {
          const before = proxy.logger.lines.length;
          proxy.events.applied(kind, object);
          const complaints = proxy.logger.lines.slice(before).filter(({ facts }) => facts.kind === kind);
          for (const { facts } of complaints) expect(facts.name).toBe(rawName(object));
        }
        const results = await proxy.sync();
        expect(results.flatMap(({ failed }) => failed)).toEqual([]);
        expect(kernel.refusedCount).toBe(0);
        expectWritable(kernel);
      }),
      { numRuns: 80 },
    );

    // Whatever has come, the cluster as it should be is programmed as if nothing had been.
    for (const name of proxy.state.serviceKeys()) remove(proxy, 'Service', name);
    for (const kind of KINDS) proxy.events.applied(kind, TEMPLATES[kind]);
    await proxy.sync();
    expect(proxy.families.get('IPv4')!.sync.table.entry('ns/web/tcp/http')).toBeDefined();
    kernel.bystanderCommits();
    expect(await proxy.verify('full')).toBe(0);
  });

  it('that are invalid in one field are ignored as a whole, with a reason', () => {
    const invalid: readonly [ResourceKind, Path, unknown][] = [
      ['Service', ['metadata', 'name'], 'web\nweb'],
      ['Service', ['metadata', 'namespace'], 'ns"'],
      ['Service', ['spec', 'clusterIPs', 0], '172.30.0.1; drop'],
      ['Service', ['spec', 'ports', 0, 'port'], '80'],
      ['Service', ['spec', 'ports', 0, 'port'], 65536],
      ['Service', ['spec', 'ports', 0, 'nodePort'], -1],
      ['Service', ['spec', 'ports', 0, 'protocol'], 'tcp'],
      ['Service', ['spec', 'ports', 0, 'name'], 'a b'],
      ['Service', ['spec', 'ports'], { 0: {} }],
      ['Service', ['spec', 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds'], 86401],
      ['EndpointSlice', ['endpoints', 0, 'addresses', 0], '10.0.0.1 . 80'],
      ['EndpointSlice', ['endpoints', 0, 'addresses', 0], 'fd00::1'],
      ['EndpointSlice', ['ports', 0, 'port'], 1.5],
      ['Endpoints', ['subsets', 0, 'addresses', 0, 'ip'], 10],
      ['Node', ['metadata', 'labels'], 'zone'],
      ['ServiceCIDR', ['spec', 'cidrs', 0], '172.30.0.0/33'],
    ];
    for (const [kind, path, value] of invalid) {
      const proxy = newProxy(new MemoryNftTransport());
      const object = withValue(TEMPLATES[kind], path, value);
      proxy.events.applied(kind, object);
      expect(proxy.reports.rejected).toHaveLength(1);
      expect(proxy.reports.rejected[0]).toContain(`${kind} ${rawName(object)}: `);
      expect(proxy.logger.at('error')).toHaveLength(1);
      expect([...proxy.state.serviceKeys()]).toEqual([]);
    }
  });

  it('do not take away what their last valid form gave', async () => {
    const kernel = new MemoryNftTransport();
    const proxy = newProxy(kernel);
    for (const kind of KINDS) proxy.events.applied(kind, TEMPLATES[kind]);
    await proxy.sync();
    kernel.resetCounts();
    proxy.events.applied('Service', withValue(TEMPLATES.Service, ['spec', 'ports', 0, 'port'], 0));
    proxy.events.applied(
      'EndpointSlice',
      withValue(TEMPLATES.EndpointSlice, ['endpoints', 0, 'addresses', 0], 'x'),
    );
    proxy.events.applied(
      'Endpoints',
      withValue(TEMPLATES.Endpoints, ['subsets', 0, 'ports', 0, 'port'], 'x'),
    );
    proxy.events.applied('Node', withValue(TEMPLATES.Node, ['status'], []));
    proxy.events.applied('ServiceCIDR', withValue(TEMPLATES.ServiceCIDR, ['spec', 'cidrs', 1], null));
    expect(proxy.reports.rejected).toHaveLength(5);
    await proxy.sync();
    expect(kernel.operationCount).toBe(0);
  });
});

function remove(proxy: InMemoryProxy, kind: ResourceKind, key: string): void {
  const [namespace = '', name = ''] = key.split('/');
  proxy.events.deleted(kind, { namespace, name });
}
