import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { ServiceStatuses } from '../../../../src/application/status/service-statuses.js';
import { SyncHistory } from '../../../../src/application/status/sync-history.js';
import { ServiceVerdicts } from '../../../../src/application/status/service-verdicts.js';
import { Explain } from '../../../../src/diagnostics/application/explain/explain.js';
import { ObjectReports } from '../../../../src/application/use-cases/object-reports.js';
import { ForwardingTable } from '../../../../src/domain/forwarding/forwarding-table.js';
import type { SliceEndpoint } from '../../../../src/domain/model/endpoint-slice.js';
import type { Service } from '../../../../src/domain/model/service.js';
import { parseAddress } from '../../../../src/domain/net/address.js';
import { parseCidr } from '../../../../src/domain/net/cidr.js';
import { ClusterState } from '../../../../src/domain/state/cluster-state.js';
import { service, slice, sliceEndpoint } from '../../../support/samples.js';
import { timeText } from '../../../../src/domain/model/text.js';
import { SYNC_REPORT } from '../../../support/sync-report.js';

const KEY = 'shop/cart/tcp/';
const CONTEXT = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: 'a', nodeHints: false },
  nodeIP: '192.0.2.4',
  externalIPsAllowed: true,
} as const;

let state: ClusterState;
let table: ForwardingTable;
let statuses: ServiceStatuses;
let reports: ObjectReports;
let history: SyncHistory;
let clock: FakeClock;
let waiting: Set<string>;
let explain: Explain;
let unread: string[];
let aside: ReadonlySet<string>;

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  state = new ClusterState();
  aside = new Set();
  table = new ForwardingTable({ ejected: () => aside });
  statuses = new ServiceStatuses();
  unread = [];
  reports = new ObjectReports(new MemoryLogger(), new FakeClock(), () => unread);
  history = new SyncHistory(clock);
  waiting = new Set();
  const loop = {
    family: 'IPv4',
    table,
    unreadObjects: unread,
    isWaiting: (key: string) => waiting.has(key),
  } as const;
  const healthChecks = {
    family: 'IPv4',
    state: (key: string) =>
      key === 'shop/cart' ? { port: 32111, localEndpoints: 1, listening: true } : undefined,
  } as const;
  const verdicts = new ServiceVerdicts({ state, loops: () => [loop], statuses, reports }, new FakeClock());
  explain = new Explain({
    state,
    loops: [loop],
    verdicts,
    history,
    healthChecks: [healthChecks],
    waitingSeconds: () => 2.5,
    ejectionTimes: (port, place) =>
      port === `IPv4 ${KEY}` && place === '10.1.1.1:8080' ? { since: 0, until: 30_000 } : undefined,
  });
});

function given(parts: Partial<Service>, endpoints: readonly SliceEndpoint[]): void {
  state.applyService(service(parts));
  state.applySlice(slice('cart-abcde', endpoints));
  table.update(state, ['shop/cart'], CONTEXT);
}

const explained = async () => (await explain.service('shop/cart')).families[0]!;
const reasonOf = async (kind: string): Promise<string | undefined> =>
  (await explained()).ports[0]!.frontends.find((frontend) => frontend.kind === kind)?.reason;

describe('Explain', () => {
  it('explains everything about a programmed Service', async () => {
    given(
      {
        loadBalancerIPs: [parseAddress('203.0.113.9')!],
        sourceRanges: [parseCidr('198.51.100.0/24')!],
        affinitySeconds: 60,
      },
      [
        sliceEndpoint('10.1.1.1', { isLocal: true }),
        sliceEndpoint('10.1.1.2', { ready: false, serving: false }),
      ],
    );
    statuses.set('IPv4', KEY, { state: 'degraded', sinceTime: timeText(5), reason: 'no such scheduler' });
    history.finished('IPv4', { ...SYNC_REPORT, seconds: 0.5, written: 9 });
    history.repaired('IPv4', 3);
    const limited = {
      state: 'warning',
      cause: 'LimitedProgramming',
      reason: 'no such scheduler',
      nextStep: 'compare with the Service: kubectl -n shop get service cart -o yaml',
    };
    const health = { unresponsive: false, ejected: false };
    const endpoint = {
      port: 8080,
      serving: true,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
      ...health,
    };
    expect(await explain.service('shop/cart')).toEqual({
      service: 'shop/cart',
      known: true,
      verdict: limited,
      objects: [],
      families: [
        {
          family: 'IPv4',
          pending: false,
          ports: [
            {
              portName: '',
              protocol: 'TCP',
              status: { state: 'degraded', sinceTime: timeText(5), reason: 'no such scheduler' },
              frontends: [
                {
                  kind: 'cluster-ip',
                  address: '10.96.7.1',
                  port: 80,
                  policy: 'Cluster',
                  outcome: 'forward',
                  state: 'ok',
                  reason: 'to 1 endpoint',
                },
                {
                  kind: 'load-balancer-ip',
                  address: '203.0.113.9',
                  port: 80,
                  policy: 'Cluster',
                  outcome: 'forward',
                  state: 'ok',
                  reason: 'to 1 endpoint',
                },
              ],
              endpoints: [
                {
                  ...endpoint,
                  address: '10.1.1.2',
                  local: false,
                  ready: false,
                  serving: false,
                  used: false,
                },
                { ...endpoint, address: '10.1.1.1', local: true, ready: true, used: true },
              ],
              verdicts: [limited],
              affinitySeconds: 60,
              sourceRanges: ['198.51.100.0/24'],
            },
          ],
          healthCheck: { port: 32111, localEndpoints: 1, listening: true },
          sync: {
            failures: 0,
            lastSuccess: { time: timeText(1_000_000), durationSeconds: 0.5, full: true, writtenSteps: 9 },
            drift: { repairs: 1, writtenSteps: 3, lastTime: timeText(1_000_000) },
          },
        },
      ],
    });
  });

  it('says why traffic goes nowhere', async () => {
    given({ externalPolicyLocal: true, loadBalancerIPs: [parseAddress('203.0.113.9')!] }, []);
    expect(await reasonOf('cluster-ip')).toBe('its EndpointSlices list no endpoint, and it has no selector');
    given({ externalPolicyLocal: true, loadBalancerIPs: [parseAddress('203.0.113.9')!] }, [
      sliceEndpoint('10.1.1.1'),
      sliceEndpoint('10.1.1.2'),
    ]);
    expect(await reasonOf('cluster-ip')).toBe('to 2 endpoints');
    expect(await reasonOf('load-balancer-ip')).toMatch(/^externalTrafficPolicy is Local/);
  });

  it.each([
    [
      'http',
      'TCP',
      [
        ['web', 'TCP'],
        ['admin', 'TCP'],
      ],
      'named http (they have: admin, web)',
    ],
    ['', 'TCP', [['http', 'TCP']], 'without a name (they have: http)'],
    ['dns', 'UDP', [['dns', 'TCP']], 'named dns for UDP (they have: dns for TCP)'],
  ] as const)('says that no slice has the port %s %s', async (port, protocol, ports, reason) => {
    state.applyService(service({ ports: [{ ...service().ports[0]!, name: port, protocol }] }));
    const empty = slice('cart-abcde', []);
    const slicePorts = ports.map(([name, spoken]) => ({ name, protocol: spoken, endpoints: [] }));
    state.applySlice({ ...empty, ports: slicePorts });
    state.applySlice({ ...empty, name: 'cart-fghij', ports: slicePorts.slice(0, 1) });
    table.update(state, ['shop/cart'], CONTEXT);
    expect(await reasonOf('cluster-ip')).toBe(`no EndpointSlice has a port ${reason}`);
  });

  it('does not take a slice that has no port, as of a Service scaled to zero, for one with the wrong ports', async () => {
    given({}, []);
    state.applySlice({ ...slice('cart-abcde', []), ports: [] });
    expect(await reasonOf('cluster-ip')).toMatch(/^its EndpointSlices list no endpoint/);
  });

  it('counts the endpoints of the policy that applies', async () => {
    given({ externalPolicyLocal: true, loadBalancerIPs: [parseAddress('203.0.113.9')!] }, [
      sliceEndpoint('10.1.1.1', { isLocal: true }),
      sliceEndpoint('10.1.1.2'),
    ]);
    expect(await reasonOf('cluster-ip')).toBe('to 2 endpoints');
    expect(await reasonOf('load-balancer-ip')).toBe('to 1 endpoint on the node');
  });

  it('distinguishes a waiting Service from a failed one', async () => {
    given({}, []);
    waiting.add('shop/cart');
    expect(await explained()).toMatchObject({
      pending: true,
      pendingSeconds: 2.5,
      ports: [{ status: { state: 'pending' } }],
    });
    statuses.set('IPv4', KEY, { state: 'failed', sinceTime: timeText(7), reason: 'EINVAL', attempts: 2 });
    expect((await explained()).ports[0]!.status).toEqual({
      state: 'failed',
      sinceTime: timeText(7),
      reason: 'EINVAL',
      attempts: 2,
    });
  });

  it('names what is wrong with the objects, and knows what it does not know', async () => {
    reports.report('Service', 'shop/cart', ['spec.ports[0].port 0 is too small'], false);
    reports.report('EndpointSlice', 'shop/cart-x7k2m', ['addressType is missing'], false);
    reports.report('EndpointSlice', 'shop/cart-api-x7k2m', ['not about this Service'], false);
    expect(await explain.service('shop/cart')).toMatchObject({
      known: false,
      verdict: {
        cause: 'InvalidObject',
        reason: 'it is invalid and ignored: spec.ports[0].port 0 is too small',
      },
      objects: [
        { reason: 'it is invalid and ignored: spec.ports[0].port 0 is too small' },
        { reason: 'EndpointSlice shop/cart-x7k2m is invalid and ignored: addressType is missing' },
      ],
      families: [{ ports: [] }],
    });
    given({}, []);
    reports.report('EndpointSlice', 'shop/cart-abcde', ['endpoints[1] has no address'], true);
    expect((await explain.service('shop/cart')).objects).toContainEqual(
      expect.objectContaining({
        cause: 'FieldIgnored',
        reason: 'EndpointSlice shop/cart-abcde: endpoints[1] has no address',
      }),
    );
  });
});

it('names what the source leaves out of a Service, and all of it in short', async () => {
  given({}, []);
  unread = [
    'a.yaml:7: Service shop/cart: spec.type: "X" is not one of ClusterIP',
    'a.yaml:9: EndpointSlice shop/cart-fghij: addressType: is missing',
    'a.yaml:20: Service shop/cart-2: spec.type: "X" is not one of ClusterIP',
    'b.yaml: EACCES',
  ];
  expect((await explain.service('shop/cart')).objects.map(({ reason }) => reason)).toEqual([
    'it is invalid and ignored: a.yaml:7: spec.type: "X" is not one of ClusterIP; its last valid version stays in use',
    'EndpointSlice shop/cart-fghij is invalid and ignored: a.yaml:9: addressType: is missing',
  ]);
  expect(reports.unusable).toEqual(unread);
});

describe('of endpoints that step aside', () => {
  const three = ['10.1.1.1', '10.1.1.2', '10.1.1.3', '10.1.1.4'].map((address) => sliceEndpoint(address));

  it('says since when and why, and that the others get what is for the frontend', async () => {
    aside = new Set(['10.1.1.1:8080']);
    given({ ejectUnresponsiveEndpoints: true }, three);
    const { endpoints, verdicts, frontends } = (await explained()).ports[0]!;
    expect(frontends[0]!.reason).toBe('to 3 endpoints');
    const why =
      'ejected since 1970-01-01T00:00:00.000Z, because the last connections to it got no answer; tried again at 1970-01-01T00:00:30.000Z';
    expect(verdicts.slice(0, 1)).toEqual([
      {
        state: 'warning',
        cause: 'UnresponsiveEndpoint',
        reason: '1 of 4 ready endpoints does not answer: 10.1.1.1:8080',
        nextStep:
          'check the pod of the endpoint: kubectl get pods -A -o wide --field-selector status.podIP=10.1.1.1',
      },
    ]);
    expect(endpoints.map(({ used, reason }) => [used, reason])).toEqual([
      [false, why],
      [true, undefined],
      [true, undefined],
      [true, undefined],
    ]);
  });

  it('says of one that has just returned that it is about to be tried', async () => {
    aside = new Set(['10.1.1.2:8080']);
    given({ ejectUnresponsiveEndpoints: true }, three);
    const [port] = (await explained()).ports;
    expect(port!.endpoints[0]).toMatchObject({
      address: '10.1.1.2',
      used: false,
      ejected: true,
      reason: 'about to be tried again',
    });
  });

  it('does not take them for endpoints of another zone', async () => {
    state.applyNode({ name: 'n1', zone: 'a', ips: [], podCIDRs: [], draining: false });
    aside = new Set(['10.1.1.1:8080']);
    given(
      { ejectUnresponsiveEndpoints: true },
      three.map((one) => ({ ...one, zoneHints: ['a'] })),
    );
    expect((await explained()).ports[0]!.verdicts.map(({ cause }) => cause)).toEqual([
      'UnresponsiveEndpoint',
      'Pending',
    ]);
  });
});

describe('how endpoints are chosen', () => {
  const two = [sliceEndpoint('10.1.1.1'), sliceEndpoint('10.1.1.2')];

  it('is told with the slots of each endpoint, exactly', async () => {
    given({ balancingMethod: 'round-robin', weights: { '10.1.1.1': 3 } }, two);
    const [port] = (await explained()).ports;
    expect(port!.balancing).toBe(
      'new connections are shared out one after another, by weight: 4 slots, each share exact',
    );
    expect(port!.endpoints.map(({ weight, share }) => [weight, share])).toEqual([
      [3, { slots: 3, totalSlots: 4 }],
      [undefined, { slots: 1, totalSlots: 4 }],
    ]);
  });

  it('is told with how exact a table is', async () => {
    given({ balancingMethod: 'maglev' }, [...two, sliceEndpoint('10.1.1.3')]);
    const [port] = (await explained()).ports;
    expect(port!.balancing).toBe(
      "new connections are shared out by a hash of the client's address and port (maglev): 2039 slots, each share within 0.10 % of what it should be",
    );
    const shares = port!.endpoints.map(({ share }) => share!.slots);
    expect(shares.reduce((sum, slots) => sum + slots)).toBe(2039);
  });

  it('is not told where all have equal chances', async () => {
    given({}, two);
    const [port] = (await explained()).ports;
    expect(port).not.toHaveProperty('choice');
    expect(port!.endpoints[0]).not.toHaveProperty('share');
  });

  it('says why one of weight 0 is not used', async () => {
    given({ weights: { '10.1.1.1': 0 } }, two);
    const [port] = (await explained()).ports;
    expect(port!.endpoints[0]).toMatchObject({ used: false, weight: 0, reason: 'its weight is 0' });
    expect(port!.endpoints[1]).toMatchObject({ used: true });
  });
});
