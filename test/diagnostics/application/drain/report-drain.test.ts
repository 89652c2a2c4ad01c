import { OpenConnections } from '../../../../src/application/traffic/terminating-endpoints.js';
import {
  readDrainTargets,
  ReportDrain,
  type DrainTargets,
} from '../../../../src/diagnostics/application/drain/report-drain.js';
import { UnknownPodError } from '../../../../src/diagnostics/application/trace/named-ends.js';
import type { NodeDrain } from '../../../../src/diagnostics/domain/drain.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { seenFlow } from '../../../support/traffic/flows.js';
import { MemoryFlowEvents } from '../../../support/traffic/memory-flow-events.js';

const never = new AbortController().signal;
const ANY: DrainTargets = { pods: [], nodes: [], addresses: [] };

const endpoint = (address: string, pod: string, nodeName: string, conditions: object = {}) => ({
  addresses: [address],
  nodeName,
  targetRef: { kind: 'Pod', name: pod, namespace: 'shop' },
  conditions,
});
const ends = { ready: false, serving: true, terminating: true };
const both = rawSlice({
  endpoints: [endpoint('10.244.1.5', 'cart-a', 'n1'), endpoint('10.244.2.6', 'cart-b', 'n2', ends)],
});

let cluster: SeenCluster;
let flows: MemoryFlowEvents;
beforeEach(() => {
  cluster = new SeenCluster();
  flows = new MemoryFlowEvents();
});

function report(targets: Partial<DrainTargets> = {}): Promise<NodeDrain> {
  const { state, loops, statuses, terminating } = cluster;
  const connections = new OpenConnections(flows, new FakeClock());
  const isListed = (): boolean => cluster.isListed;
  const sources = { node: 'n1', state, loops, statuses, terminating, connections, isListed };
  return new ReportDrain(sources).report({ ...ANY, ...targets }, never);
}

it('without a target is about the endpoints that terminate', async () => {
  cluster.deliver([rawService()], [both]);
  flows.begin(seenFlow(1, { replySource: '10.244.2.6:8080' }));
  flows.begin(seenFlow(2, { replySource: '10.244.1.5:8080' }));
  expect(await report()).toEqual({
    node: 'n1',
    addresses: ['10.244.2.6'],
    endpoints: [
      {
        ...{ address: '10.244.2.6', port: 8080, protocol: 'TCP', pod: 'shop/cart-b', nodeName: 'n2' },
        ...{ services: ['shop/cart'], terminatingSinceTime: '1970-01-01T00:00:00.000Z' },
        ...{ openConnections: 1, inUse: false },
      },
    ],
  });
});

it.each([
  ['a node', { nodes: ['n1'] }],
  ['a pod', { pods: [{ pod: 'shop/cart-a' }] }],
  ['an address', { addresses: ['10.244.1.5'] }],
])('is about the endpoints of %s, terminating or not', async (_, targets) => {
  cluster.deliver([rawService()], [both]);
  const { endpoints, addresses } = await report(targets);
  expect(addresses).toEqual(['10.244.1.5']);
  expect(endpoints).toMatchObject([{ pod: 'shop/cart-a', inUse: true, openConnections: 0 }]);
  expect(endpoints[0]).not.toHaveProperty('terminatingSinceTime');
});

it('counts connections to an address that is no endpoint any more', async () => {
  cluster.deliver([rawService()], [both]);
  flows.begin(seenFlow(1, { replySource: '10.244.9.9:8080' }));
  expect(await report({ addresses: ['10.244.9.9', '10.244.9.8'] })).toEqual({
    node: 'n1',
    addresses: ['10.244.9.9', '10.244.9.8'],
    endpoints: [
      {
        ...{ address: '10.244.9.9', port: 8080, protocol: 'TCP', services: [] },
        ...{ openConnections: 1, inUse: false },
      },
    ],
  });
});

it('names all Services of an endpoint, once', async () => {
  const other = { namespace: 'shop', name: 'api-1', labels: { 'kubernetes.io/service-name': 'api' } };
  const twice = { ...other, name: 'api-2' };
  cluster.deliver(
    [rawService()],
    [both, rawSlice({ endpoints: [endpoint('10.244.2.6', 'cart-b', 'n2', ends)] }, other)],
  );
  cluster.deliver([], [rawSlice({ endpoints: [endpoint('10.244.2.6', 'cart-b', 'n2', ends)] }, twice)]);
  expect((await report()).endpoints).toMatchObject([{ services: ['shop/cart', 'shop/api'] }]);
});

it('an endpoint is in use while it is the last one', async () => {
  cluster.deliver([rawService()], [rawSlice({ endpoints: [endpoint('10.244.2.6', 'cart-b', 'n2', ends)] })]);
  expect((await report()).endpoints).toMatchObject([{ inUse: true }]);
});

it('an endpoint is in use while the change is not in the kernel, or failed to get there', async () => {
  cluster.deliver([rawService()], [both]);
  cluster.waiting.add('shop/cart');
  expect((await report()).endpoints).toMatchObject([{ inUse: true }]);
  cluster.waiting.clear();
  expect((await report()).endpoints).toMatchObject([{ inUse: false }]);
  const failed = { state: 'failed', sinceTime: '', reason: 'EINVAL', attempts: 1 } as const;
  cluster.statuses.set('IPv4', 'shop/cart/tcp/', failed);
  expect((await report()).endpoints).toMatchObject([{ inUse: true }]);
  cluster.statuses.set('IPv4', 'shop/cart/tcp/', { ...failed, limitedBy: 'mode' });
  expect((await report()).endpoints).toMatchObject([{ inUse: false }]);
});

it('tells why connections are not seen', async () => {
  cluster.deliver([rawService()], [both]);
  flows.tracksServices = false;
  expect((await report()).unseenReason).toMatch('IPVS');
  cluster.isListed = false;
  expect((await report()).unseenReason).toBe('not all objects have been listed yet');
});

it('rejects a pod that no proxy knows', async () => {
  await expect(report({ pods: [{ pod: 'shop/none' }] })).rejects.toThrow(UnknownPodError);
});

it('reads nodes, pods and addresses', () => {
  expect(readDrainTargets(['n1', 'node/10.0.0.1', '10.0.0.1', 'FD00::1', 'pod/a', 'b/c'], 'shop')).toEqual({
    nodes: ['n1', '10.0.0.1'],
    addresses: ['10.0.0.1', 'fd00::1'],
    pods: [{ pod: 'shop/a' }, { pod: 'b/c' }],
  });
  expect(readDrainTargets(['n1', 'N 1'])).toBe('N 1');
  expect(readDrainTargets(['pod/a:80'])).toBe('pod/a:80');
});
