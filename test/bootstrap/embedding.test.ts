import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createProxy,
  UsageError,
  ConfigurationError,
  type KubeProxyConfiguration,
  type ProxyOptions,
} from '../../src/index.js';
import {
  FakeClock,
  MemoryConntrack,
  MemoryLogger,
  RecordingBackend,
  RecordingEvents,
  ScriptedSource,
} from '../../src/fakes.js';
import { RecordingObserver } from '../support/recording-observer.js';

const service = (name: string, clusterIP: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name },
  spec: { clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80, protocol: 'TCP' }] },
});
const slice = (name: string, address: string) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'shop', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
});

/** A proxy of fakes, and the fakes. */
class World {
  readonly source = new ScriptedSource();
  readonly clock = new FakeClock();
  readonly logger = new MemoryLogger();
  readonly backend = new RecordingBackend('IPv4');

  create(options: ProxyOptions = {}) {
    const { source, clock, logger, backend } = this;
    return createProxy({ source, clock, logger, backends: [backend], ...options });
  }

  async passes(milliseconds: number): Promise<void> {
    await this.clock.advanceAsync(milliseconds);
  }
}

describe('createProxy', () => {
  it('programs a backend of one’s own from a source of one’s own, and follows it', async () => {
    const world = new World();
    world.source.apply('Service', service('cart', '10.96.0.1')).synced();
    const proxy = await world.create({ flags: ['--cluster-cidr=10.244.0.0/16', '--hostname-override=n1'] });
    await proxy.start();
    await proxy.programmed();
    const entry = world.backend.programmed.get('shop/cart/tcp/')!;
    expect(entry.frontends).toMatchObject([{ kind: 'cluster-ip', address: '10.96.0.1', port: 80 }]);
    expect(world.backend.node!.detector).toMatchObject({ cidr: { address: '10.244.0.0', prefixLength: 16 } });
    world.source.apply('EndpointSlice', slice('cart', '10.244.1.5'));
    await world.passes(1000);
    expect(world.backend.programmed.get('shop/cart/tcp/')!.endpoints.cluster).toMatchObject([
      { address: '10.244.1.5', port: 8080 },
    ]);
    expect(proxy.inSync).toBe(true);
    await proxy.stop();
    await proxy.stop();
    expect(world.backend.calls.at(-1)!.method).toBe('close');
    expect([world.source.running, world.clock.pending]).toEqual([false, 0]);
  });

  it('completes hand-written objects with the defaults that manifests get', async () => {
    const world = new World();
    const spec = { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'], ports: [{ port: 80 }] };
    world.source
      .apply('Service', { metadata: { namespace: 'shop', name: 'cart' }, spec })
      .apply('EndpointSlice', {
        metadata: slice('cart', '').metadata,
        addressType: 'IPv4',
        ports: [{ port: 8080 }],
        endpoints: [{ addresses: ['10.244.1.5'] }],
      })
      .apply('Node', { metadata: { name: 'n1' }, spec: { podCIDR: '10.244.1.0/24' } })
      .apply('Service', null)
      .synced();
    const backends = [world.backend, new RecordingBackend('IPv6')] as const;
    const flags = ['--hostname-override=n1', '--detect-local-mode=NodeCIDR'];
    const proxy = await world.create({ backends, flags });
    await proxy.start();
    await proxy.programmed();
    const [IPv4, IPv6] = backends.map(({ programmed }) => programmed.get('shop/cart/tcp/')!);
    expect(IPv4!.endpoints.cluster).toMatchObject([{ address: '10.244.1.5', port: 8080, ready: true }]);
    expect(IPv6!.frontends).toMatchObject([{ address: 'fd00::1', port: 80 }]);
    expect(world.backend.node!.detector).toMatchObject({ cidr: { address: '10.244.1.0' } });
    await proxy.stop();
  });

  it('takes a configuration as a file has it, and flags override it', async () => {
    const world = new World();
    world.source.apply('Node', { metadata: { name: 'n1' } }).synced();
    const configuration: KubeProxyConfiguration = {
      hostnameOverride: 'n1',
      clusterCIDR: '10.244.0.0/16,fd00::/48',
      nodePortAddresses: ['192.0.2.0/24'],
      nftables: { masqueradeAll: true, masqueradeBit: 9, syncPeriod: '10s' },
    };
    const proxy = await world.create({
      configuration,
      localAddresses: { list: () => ['192.0.2.7', '198.51.100.7'] },
      flags: ['--cluster-cidr=10.9.0.0/16', '--masquerade-all=false'],
    });
    expect(proxy.parts).not.toContain('metrics server');
    await proxy.start();
    await proxy.programmed();
    expect(world.backend.node).toMatchObject({
      detector: { cidr: { address: '10.9.0.0' } },
      masqueradeBit: 9,
      masqueradeAll: false,
      nodePortIPs: ['192.0.2.7'],
    });
    await world.passes(10_000);
    expect(world.backend.calls.map(({ method }) => method)).toContain('full');
    await proxy.stop();
    const served = await world.create({
      configuration: { metricsBindAddress: '127.0.0.1' },
      flags: ['--healthz-bind-address=127.0.0.1', '--healthz-port=0'],
    });
    expect(served.parts).toContain('metrics server');
    expect(served.parts).not.toContain('healthz server');
    await served.stop();
  });

  it.each<readonly [string, unknown]>([
    ['mode: "x"', { mode: 'x' }],
    ['detectLocal: 1', { detectLocal: 1 }],
    ['iptables: { syncPeriod: "-1s" }', { iptables: { syncPeriod: '-1s' } }],
    ['iptables: { syncPeriod: 30 }', { iptables: { syncPeriod: 30 } }],
    ['kind: "Pod"', { kind: 'Pod' }],
  ])('rejects a configuration as it would a file with %s', async (yaml, configuration) => {
    const create = (options: object) => new World().create(options).catch((error: unknown) => error);
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-'));
    const file = join(folder, 'config.yaml');
    const meta = yaml.startsWith('kind') ? '' : 'kind: KubeProxyConfiguration\n';
    await writeFile(file, `apiVersion: kubeproxy.config.k8s.io/v1alpha1\n${meta}${yaml}\n`);
    try {
      const error = await create({ configuration });
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toEqual(await create({ flags: [`--config=${file}`] }));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('rejects fields that a configuration does not have, and a second configuration', async () => {
    // @ts-expect-error The type knows the fields.
    const misspelled: KubeProxyConfiguration = { nftables: { masqueradeAl: true } };
    // @ts-expect-error Durations are text.
    const numeric: KubeProxyConfiguration = { nftables: { syncPeriod: 30 } };
    const world = new World();
    await expect(world.create({ configuration: misspelled })).rejects.toThrow(
      'failed complete: failed to decode: strict decoding error: unknown field "nftables.masqueradeAl"',
    );
    await expect(world.create({ configuration: numeric })).rejects.toThrow('nftables.syncPeriod: expected');
    const both = world.create({ configuration: {}, flags: ['--config=/dev/null'] });
    await expect(both).rejects.toThrow(UsageError);
  });

  it('writes nothing before everything is listed', async () => {
    const world = new World();
    world.source.apply('Service', service('cart', '10.96.0.1')).synced('Service', 'Node', 'ServiceCIDR');
    const proxy = await world.create();
    await proxy.start();
    await world.passes(10_000);
    expect(world.backend.calls).toEqual([]);
    world.source.synced('EndpointSlice');
    await proxy.programmed();
    expect(world.backend.programmed.size).toBe(1);
    await proxy.stop();
  });

  it('tells what is not served, and tries it again', async () => {
    const world = new World();
    world.source.apply('Service', service('cart', '10.96.0.1'), service('web', '10.96.0.2')).synced();
    world.backend.poisoned.set('shop/cart/tcp/', 'no');
    const proxy = await world.create();
    await proxy.start();
    await proxy.programmed();
    expect(proxy.notProxied).toMatchObject([{ family: 'IPv4', servicePort: 'shop/cart/tcp/', reason: 'no' }]);
    world.backend.poisoned.clear();
    await world.passes(2000);
    expect(proxy.notProxied).toEqual([]);
    await proxy.stop();
  });

  it('tells when a family fails as a whole, and tries it again', async () => {
    const world = new World();
    world.source.apply('Service', service('cart', '10.96.0.1')).synced();
    world.backend.failure = new Error('no kernel');
    const proxy = await world.create();
    await proxy.start();
    await expect(proxy.programmed()).rejects.toThrow('not programmed: IPv4: no kernel');
    world.backend.failure = undefined;
    await world.passes(2000);
    expect(world.backend.programmed.size).toBe(1);
    await proxy.stop();
  });

  it('leaves machine and network alone, unless flags ask for it', async () => {
    const world = new World();
    const quiet = await world.create();
    expect(quiet.parts).toEqual([
      'proxy mode',
      'addresses of this node',
      'sync loops',
      'cluster source',
      'verdicts on Services',
      'event recorder',
      'wait for the Node',
      'changes of addresses',
    ]);
    await quiet.stop();
    const asked = await new World().create({ flags: ['--metrics-bind-address=127.0.0.1:10249'] });
    expect(asked.parts).toContain('metrics server');
    expect(asked.parts).not.toContain('healthz server');
    await asked.stop();
  });

  it('logs no problem of the machine, nor of a Node, in memory', async () => {
    const world = new World();
    const annotations = { 'kube-proxy-ts/eject-unresponsive-endpoints': 'true' };
    const { metadata, spec } = service('cart', 'fd00::1');
    world.source
      .apply('Service', { metadata: { ...metadata, annotations }, spec: { ...spec, type: 'NodePort' } })
      .apply('Node', { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'a' } } })
      .synced();
    const proxy = await world.create({
      backends: [new RecordingBackend('IPv6')],
      conntrack: new MemoryConntrack(),
      localAddresses: { list: () => [] },
      flags: ['--hostname-override=n1'],
    });
    await proxy.start();
    await proxy.programmed();
    await world.passes(60_000);
    expect(world.logger.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    world.source.apply('Node', {
      metadata: { name: 'n1' },
      status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
    });
    expect(world.logger.lines.at(-1)).toMatchObject({
      level: 'error',
      facts: { problem: expect.any(String) },
    });
    await proxy.stop();
  });

  it('uses the given parts instead of its own', async () => {
    const conntrack = new MemoryConntrack();
    let stops = 0;
    const events = Object.assign(new RecordingEvents(), { stop: async () => void stops++ });
    const syncObserver = new RecordingObserver();
    const world = new World();
    world.source.apply('Service', service('cart', '10.96.0.1')).synced();
    world.backend.poisoned.set('shop/cart/tcp/', 'no');
    const proxy = await world.create({
      conntrack,
      localAddresses: { list: () => ['192.0.2.7'] },
      events,
      syncObserver,
    });
    expect(proxy.parts).toEqual(expect.arrayContaining(['conntrack', 'conntrack reconcilers']));
    await proxy.start();
    await proxy.programmed();
    expect(events.events).toMatchObject([
      { regarding: { name: 'cart' }, note: expect.stringContaining('no') },
    ]);
    expect(syncObserver.reports).toHaveLength(1);
    await proxy.stop();
    expect(stops).toBe(1);
  });

  it('runs several side by side', async () => {
    const worlds = [new World(), new World()];
    const proxies = await Promise.all(
      worlds.map((world, index) => {
        world.source.apply('Service', service('cart', `10.96.0.${index + 1}`)).synced();
        return world.create();
      }),
    );
    for (const proxy of proxies) await proxy.start();
    for (const proxy of proxies) await proxy.programmed();
    const addresses = worlds.map(({ backend }) => [...backend.programmed.values()][0]!.frontends[0]!.address);
    expect(addresses).toEqual(['10.96.0.1', '10.96.0.2']);
    for (const proxy of proxies) await proxy.stop();
  });

  it('says what is wrong with what it is given', async () => {
    const world = new World();
    await expect(world.create({ flags: ['--no-such-flag'] })).rejects.toThrow(UsageError);
    await expect(world.create({ flags: ['--cluster-cidr=x'] })).rejects.toThrow(ConfigurationError);
    await expect(world.create({ backends: [] })).rejects.toThrow('one backend for each family is needed');
    const twice = [new RecordingBackend('IPv6'), new RecordingBackend('IPv6')];
    await expect(world.create({ backends: twice })).rejects.toThrow('these are for: IPv6, IPv6');
    const source = new ScriptedSource(new Error('no such cluster'));
    const proxy = await world.create({ source });
    await expect(proxy.start()).rejects.toThrow('no such cluster');
    await proxy.stop();
  });
});
