import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { SliceEndpoint } from '../../../src/domain/model/endpoint-slice.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import {
  hasNoFrontend,
  judgeFrontends,
  judgePort,
  misplacedSlices,
  type JudgedPort,
  type ProgrammingStatus,
} from '../../../src/domain/verdict/judge-port.js';
import { worstOf } from '../../../src/domain/verdict/verdict.js';
import { FORWARDING, endpoint, service, slice, sliceEndpoint } from '../../support/samples.js';

const PROGRAMMED: ProgrammingStatus = { state: 'programmed' };
const EXTERNAL = '203.0.113.9';
/** With a load balancer, whose frontend follows the cluster IP. */
const BALANCED: Partial<Service> = { loadBalancerIPs: [parseAddress(EXTERNAL)!], externalPolicyLocal: true };
const TERMINATING = { ready: false, terminating: true } as const;

let state: ClusterState;
let ejected: Set<string>;
let table: ForwardingTable;

beforeEach(() => {
  state = new ClusterState();
  ejected = new Set();
  table = new ForwardingTable({ ejected: () => ejected });
});

/** Delivers a Service and its slice, undefined for none, and returns what is known of its port. */
function given(
  parts: Partial<Service> = {},
  found: readonly SliceEndpoint[] | undefined = undefined,
  sliceParts: Parameters<typeof slice>[2] = {},
): JudgedPort {
  const given = service({ selector: 'app=cart', ...parts });
  state.applyService(given);
  const key = `shop/${given.name}` as const;
  if (found) state.applySlice(slice(`${given.name}-abcde`, found, { service: given.name, ...sliceParts }));
  table.update(state, [key], FORWARDING);
  const [entry] = table.entriesOf(key);
  const { port, protocol } = entry!.name;
  const endpoints = state.endpointsByPort(key, 'IPv4')({ port, protocol });
  return { entry: entry!, endpoints, status: PROGRAMMED };
}

function causesOf(port: JudgedPort): readonly string[] {
  return judgePort(state, port).map(({ state: how, cause = '' }) => `${how} ${cause}`.trim());
}

function frontendsOf(port: JudgedPort): readonly string[] {
  const frontends = judgeFrontends(state, port, judgePort(state, port));
  return frontends.map(({ state: how, outcome, reason }) => `${how} ${outcome}: ${reason}`);
}

describe('why no endpoint can be used', () => {
  const one = [sliceEndpoint('10.1.1.1')];
  const named = (name: string, targetName?: string) => ({ ...service().ports[0]!, name, targetName });
  const onlyPort = (name: string, protocol: 'TCP' | 'UDP' = 'TCP') => ({
    ports: [{ name, protocol, port: 8080 }],
  });

  it.each<[string, ...Parameters<typeof given>]>([
    ['error NoEndpointSlice', {}],
    ['error NoPodSelected', {}, []],
    ['error NoEndpoint', { selector: undefined }, []],
    ['error OtherFamily', {}, one, { family: 'IPv6' }],
    ['error NoSuchPort', {}, one, onlyPort('web')],
    ['error NoSuchPort', { ports: [named('web')] }, one, onlyPort('admin')],
    ['error OtherProtocol', {}, one, onlyPort('', 'UDP')],
    // The slice has the other port of the Service alone: no pod has the named target port.
    ['error NoSuchTargetPort', { ports: [named('web', 'http'), named('admin')] }, one, onlyPort('admin')],
    ['error NoSuchPort', { ports: [named('web', 'http'), named('admin')] }, one, onlyPort('else')],
    ['error NoSuchPort', { ports: [named('web'), named('admin')] }, one, onlyPort('admin')],
    ['error AllTerminating', {}, [sliceEndpoint('10.1.1.1', { ...TERMINATING, serving: false })]],
    [
      'error NoReadyEndpoint',
      {},
      [
        sliceEndpoint('10.1.1.1', { ...TERMINATING, serving: false }),
        sliceEndpoint('10.1.1.2', { ready: false, serving: false }),
      ],
    ],
  ])('%s', (cause, ...rest) => {
    const port = given(...rest);
    expect(causesOf(port)).toEqual([cause]);
    const [{ reason } = { reason: '' }] = judgePort(state, port);
    expect(frontendsOf(port)).toEqual([`error reject: ${reason}`]);
  });

  it('is not reported where the Service has an endpoint', () => {
    const port = given({}, [sliceEndpoint('10.1.1.1'), sliceEndpoint('10.1.1.2', { ready: false })]);
    expect(judgePort(state, port)).toEqual([{ state: 'ok', reason: '1 of 2 endpoints are ready' }]);
    expect(frontendsOf(port)).toEqual(['ok forward: to 1 endpoint']);
  });
});

describe('what limits a port', () => {
  it('is that only terminating endpoints serve', () => {
    expect(causesOf(given({}, [sliceEndpoint('10.1.1.1', TERMINATING)]))).toEqual([
      'warning OnlyTerminating',
    ]);
  });

  it('is that it was never programmed', () => {
    const port = given({}, [sliceEndpoint('10.1.1.1')]);
    expect(causesOf({ ...port, status: undefined })).toEqual(['warning Pending']);
  });

  it('is an error only where clients of this node are dropped, and a load balancer is forwarded nowhere', () => {
    const elsewhere = [sliceEndpoint('10.1.1.1')];
    const port = given(BALANCED, elsewhere);
    expect(causesOf(port)).toEqual(['ok NoLocalEndpoint']);
    expect(frontendsOf(port)).toEqual([
      'ok forward: to 1 endpoint',
      expect.stringMatching('^ok drop: externalTrafficPolicy is Local'),
    ]);
    const internal = given({ internalPolicyLocal: true }, elsewhere);
    expect(causesOf(internal)).toEqual(['error NoLocalEndpoint']);
    expect(frontendsOf(internal)).toEqual([
      expect.stringMatching('^error drop: internalTrafficPolicy is Local'),
    ]);
  });

  it('counts local endpoints for a frontend with the policy Local', () => {
    const port = given(BALANCED, [
      sliceEndpoint('10.1.1.1', { isLocal: true }),
      sliceEndpoint('10.1.1.2'),
      sliceEndpoint('10.1.1.3'),
    ]);
    expect(frontendsOf(port)).toEqual([
      'ok forward: to 3 endpoints',
      'ok forward: to 1 endpoint on the node',
    ]);
  });

  it('puts errors first', () => {
    const port = given({}, [sliceEndpoint('10.1.1.1', TERMINATING)]);
    const failed = { ...port, status: { state: 'failed', reason: 'EINVAL' } } as const;
    expect(causesOf(failed)).toEqual(['error ProgrammingFailed', 'warning OnlyTerminating']);
    expect(causesOf({ ...failed, status: { ...failed.status, limitedBy: 'mode' } })[0]).toBe(
      'error NotSupportedByMode',
    );
  });

  it('is what differs from the request, besides lost frontends', () => {
    const port = given({}, [sliceEndpoint('10.1.1.1')]);
    const conflicts = [{ frontend: '10.96.7.1:80/TCP', owner: 'shop/other' }];
    const judged = (status: Omit<ProgrammingStatus, 'state'>) =>
      judgePort(state, { ...port, status: { state: 'degraded', ...status } }).map(
        ({ state: how, reason }) => `${how}: ${reason}`,
      );
    expect(judged({ reason: 'no mh' })).toEqual(['warning: no mh']);
    expect(judged({ reason: 'both', limits: ['no mh'] })).toEqual(['warning: no mh']);
    expect(judged({ reason: 'both', limits: ['no mh'], conflicts })).toEqual([
      'error: all its frontends belong to other Services: 10.96.7.1:80/TCP belongs to shop/other',
      'warning: no mh',
    ]);
    expect(judged({ reason: 'both', conflicts })).toHaveLength(1);
  });
});

describe('endpoints that do not answer', () => {
  const two = ['10.1.1.1', '10.1.1.2'].map((address) => sliceEndpoint(address));

  it('are counted among the ready ones', () => {
    const port = given({}, [...two, sliceEndpoint('10.1.1.3', { ready: false, serving: false })]);
    const unresponsive = new Map([
      ['10.1.1.2:8080', 3],
      ['10.1.1.3:8080', 9],
    ]);
    expect(judgePort(state, { ...port, unresponsive })).toMatchObject([
      { reason: '1 of 2 ready endpoints does not answer: 10.1.1.2:8080, 3 connections without an answer' },
    ]);
    expect(causesOf({ ...port, unresponsive: new Map([['10.1.1.3:8080', 9]]) })).toEqual(['ok']);
  });

  it('are those that are ejected, too', () => {
    ejected.add('10.1.1.1:8080');
    const port = given({ ejectUnresponsiveEndpoints: true }, two);
    expect(judgePort(state, port)).toMatchObject([
      { reason: '1 of 2 ready endpoints does not answer: 10.1.1.1:8080' },
    ]);
    expect(frontendsOf(port)).toEqual(['ok forward: to 1 endpoint']);
  });
});

describe('endpoints of other zones', () => {
  const hinted = (address: string, ...zoneHints: string[]) => sliceEndpoint(address, { zoneHints });
  const ofZone = (zone: string): void =>
    void state.applyNode({ name: 'n1', zone, ips: [], podCIDRs: [], draining: false });

  it('are named with their zones, sorted', () => {
    ofZone('a');
    const here = endpoint('10.1.1.1', { zoneHints: ['a'] });
    const port = given({}, [hinted('10.1.1.1', 'a'), hinted('10.1.1.2', 'c'), hinted('10.1.1.3', 'b', 'c')]);
    const { endpoints } = port.entry;
    const entry = { ...port.entry, endpoints: { ...endpoints, cluster: [here], reachable: [here] } };
    expect(judgePort(state, { ...port, entry })).toMatchObject([
      {
        cause: 'OtherZones',
        reason: '2 ready endpoints are hinted for zone b, c, and the node is in zone a',
      },
    ]);
  });

  it('are none that are not ready, have weight 0 or no hint, and none while the node is not known', () => {
    const port = given({}, [hinted('10.1.1.1', 'a')]);
    const others = [
      endpoint('10.1.1.2', { zoneHints: ['b'], ready: false }),
      endpoint('10.1.1.3', { zoneHints: ['b'], weight: 0 }),
      endpoint('10.1.1.4'),
    ];
    ofZone('a');
    expect(causesOf({ ...port, endpoints: [...port.endpoints, ...others] })).toEqual(['ok']);
    const nodeHinted = endpoint('10.1.1.5', { nodeHints: ['n2'] });
    expect(causesOf({ ...port, endpoints: [nodeHinted] })).toEqual(['ok OtherZones']);
    expect(judgePort(new ClusterState(), { ...port, endpoints: [nodeHinted] })[0]!.state).toBe('ok');
  });
});

describe('settings of the kernel', () => {
  const obstacle = (kind: 'not-forwarded' | 'bridged', affected: string) => ({
    kind,
    text: 'a setting',
    affects: ({ address }: { readonly address: string }) => address === affected,
  });

  it('drop packets to a frontend only if they concern all its endpoints', () => {
    const port = given({}, [sliceEndpoint('10.1.1.1')]);
    const judged = (...obstacles: ReturnType<typeof obstacle>[]) => [
      ...causesOf({ ...port, obstacles }),
      ...frontendsOf({ ...port, obstacles }),
    ];
    expect(judged(obstacle('not-forwarded', '10.1.1.1'))).toEqual([
      'error ForwardingDisabled',
      'error drop: a setting',
    ]);
    expect(judged(obstacle('not-forwarded', '10.1.1.2'))).toEqual([
      'error ForwardingDisabled',
      'ok forward: to 1 endpoint',
    ]);
    expect(judged(obstacle('bridged', '10.1.1.1'))).toEqual([
      'error BridgeNotFiltered',
      'ok forward: to 1 endpoint',
    ]);
  });
});

describe('frontends', () => {
  it('name where the proxy itself listens for a node port, and nowhere else', () => {
    const [port] = service().ports;
    const judged = given({ type: 'NodePort', ports: [{ ...port!, nodePort: 30080 }] }, [
      sliceEndpoint('10.1.1.1'),
    ]);
    expect(frontendsOf({ ...judged, localhost: '127.0.0.1:30080' })).toEqual([
      'ok forward: to 1 endpoint',
      'ok forward: to 1 endpoint; the proxy itself listens on 127.0.0.1:30080',
    ]);
    expect(frontendsOf(judged)).toEqual(['ok forward: to 1 endpoint', 'ok forward: to 1 endpoint']);
  });

  it.each([
    [
      'no endpoint',
      [],
      {},
      'belongs to shop/cart, packets are rejected: it has no endpoint that can be used',
    ],
    [
      'endpoints',
      [sliceEndpoint('10.1.1.1')],
      {},
      'belongs to shop/cart, packets go to its endpoint 10.1.1.1:8080',
    ],
    [
      'endpoints elsewhere, and the policy Local',
      [sliceEndpoint('10.1.1.1')],
      { externalPolicyLocal: true },
      'belongs to shop/cart, packets are dropped: its policy is Local, and no endpoint on the node is ready',
    ],
    [
      'an endpoint here, and the policy Local',
      [sliceEndpoint('10.1.1.1'), sliceEndpoint('10.1.1.2', { isLocal: true })],
      { externalPolicyLocal: true },
      'belongs to shop/cart, packets go to its endpoint 10.1.1.2:8080',
    ],
  ])('that belong to a Service with %s lead there', (_, endpoints, parts, reason) => {
    const loadBalancerIPs = [parseAddress(EXTERNAL)!];
    const { entry: owner } = given({ createdAt: 1, loadBalancerIPs, ...parts }, endpoints);
    const port = given({ name: 'late', createdAt: 2, clusterIPs: { IPv4: '10.96.7.2' }, loadBalancerIPs }, [
      sliceEndpoint('10.1.2.1'),
    ]);
    const conflicts = [{ frontend: `${EXTERNAL}:80/TCP`, owner: 'shop/cart' }];
    const late: JudgedPort = { ...port, status: { state: 'degraded', conflicts }, ownerOf: () => owner };
    expect(frontendsOf(late)).toEqual(['ok forward: to 1 endpoint', `warning conflict: ${reason}`]);
    const gone: JudgedPort = { ...late, ownerOf: () => undefined };
    expect(frontendsOf(gone)[1]).toBe('warning conflict: belongs to shop/cart');
  });

  it('are all lost if others have each of them', () => {
    const { entry } = given(BALANCED, []);
    const lost = (...frontends: string[]): ProgrammingStatus => ({
      state: 'degraded',
      conflicts: frontends.map((frontend) => ({ frontend, owner: 'shop/other' })),
    });
    const both = lost('10.96.7.1:80/TCP', `${EXTERNAL}:80/TCP`);
    expect(hasNoFrontend(entry, undefined)).toBe(false);
    expect(hasNoFrontend(entry, lost(`${EXTERNAL}:80/TCP`))).toBe(false);
    expect(hasNoFrontend(entry, both)).toBe(true);
    expect(hasNoFrontend({ ...entry, frontends: [], requested: entry.frontends }, undefined)).toBe(true);
    const port = { entry, endpoints: [], status: both };
    expect(frontendsOf(port)).toEqual([
      'error conflict: belongs to shop/other',
      'error conflict: belongs to shop/other',
    ]);
  });
});

it('finds slices that may be meant for a Service: five of its namespace, sorted', () => {
  given({ name: 'web' });
  state.leaveService('shop/headless', 'headless');
  const add = (name: string, owner: string, namespace = 'shop') =>
    state.applySlice(slice(name, [], { service: owner, namespace }));
  add('web-x', 'wbe');
  add('web-y', 'web');
  add('other-x', 'wbe', 'pay');
  add('invalid-x', 'invalid');
  add('headless-x', 'headless');
  state.leaveSlice('shop', 'web-z');
  state.leaveSlice('shop', 'cart-z');
  const found = () => misplacedSlices(state, 'shop/web', (key) => key === 'shop/invalid');
  expect(found()).toEqual([
    'shop/web-x (labeled wbe, which is no Service)',
    'shop/web-z (without the label)',
  ]);
  for (let number = 0; number < 7; number++) add(`a${number}`, 'wbe');
  expect(found()).toEqual(
    [0, 1, 2, 3, 4].map((number) => `shop/a${number} (labeled wbe, which is no Service)`),
  );
});

it('the worst of verdicts is the first of its kind', () => {
  const all = (['ok', 'warning', 'error', 'error', 'warning'] as const).map((how, place) => ({
    state: how,
    place,
  }));
  expect(worstOf(all)).toEqual({ state: 'error', place: 2 });
  expect(worstOf(all.slice(0, 2))).toEqual({ state: 'warning', place: 1 });
  expect(worstOf([])).toBeUndefined();
});
