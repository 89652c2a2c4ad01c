import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';
import { rawService, rawSlice } from '../../support/objects.js';
import { USUAL_SETTINGS } from '../../support/usual-settings.js';

const NODE = {
  metadata: { name: 'node1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
  spec: { podCIDRs: ['10.244.1.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
};
const OTHER = { addresses: ['10.244.2.6'], nodeName: 'node2' };
const BEFORE = {
  addresses: ['10.244.1.5'],
  nodeName: 'node1',
  zone: 'zone-a',
  conditions: { ready: true, serving: true, terminating: false },
  targetRef: { kind: 'Pod', name: 'cart-1', namespace: 'shop' },
};
const conditions = (changed: object): object => ({ conditions: { ...BEFORE.conditions, ...changed } });

function proxyWith(endpoint: object, slice: object = {}, metadata: object = {}) {
  const backend = new RecordingBackend('IPv4');
  const proxy = new InMemoryProxy([backend], USUAL_SETTINGS, () => ['192.0.2.1']);
  proxy.events.applied('Node', NODE);
  const policies = { type: 'NodePort', internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' };
  proxy.events.applied('Service', rawService({ ...policies, ports: [{ port: 80, nodePort: 30080 }] }));
  const deliver = (each: object, ...rest: readonly [object?, object?]): void =>
    proxy.events.applied('EndpointSlice', rawSlice({ endpoints: [each, OTHER], ...rest[0] }, rest[1]));
  deliver(endpoint, slice, metadata);
  return { backend, proxy, deliver };
}

it.each<[string, object, object?, object?]>([
  ['ready', conditions({ ready: false })],
  ['serving', conditions({ serving: false })],
  ['terminating', conditions({ terminating: true })],
  ['all conditions', conditions({ ready: false, terminating: true })],
  ['its address', { addresses: ['10.244.1.7'] }],
  ['its node', { nodeName: 'node2' }],
  ['its zone', { zone: 'zone-b' }],
  ['its pod', { targetRef: { ...BEFORE.targetRef, name: 'cart-2' } }],
  ['hints of zones', { hints: { forZones: [{ name: 'zone-b' }] } }],
  ['hints of nodes', { hints: { forNodes: [{ name: 'node2' }] } }],
  ['the port', {}, { ports: [{ name: '', port: 9090 }] }],
  ['the weight', {}, {}, { annotations: { 'kube-proxy-ts/weight': '7' } }],
])(
  'where only %s of an endpoint changes, the backend gets what it would get at a start',
  async (_, ...change) => {
    const [endpoint, slice, metadata] = change;
    const running = proxyWith(BEFORE);
    await running.proxy.sync();
    running.deliver({ ...BEFORE, ...endpoint }, slice, metadata);
    await running.proxy.sync();
    const started = proxyWith({ ...BEFORE, ...endpoint }, slice, metadata);
    await started.proxy.sync();
    const unchanged = proxyWith(BEFORE);
    await unchanged.proxy.sync();
    expect(started.backend.programmed).not.toEqual(unchanged.backend.programmed);
    expect(running.backend.programmed).toEqual(started.backend.programmed);
  },
);
