import { parseAddress } from '../../../src/domain/net/address.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { service, slice, sliceEndpoint } from '../../support/samples.js';

const UNNAMED = { port: '', protocol: 'TCP' } as const;
const one = sliceEndpoint('10.0.0.1');
const two = sliceEndpoint('10.0.0.2');
let state: ClusterState;
const addresses = (key = 'shop/cart', family: 'IPv4' | 'IPv6' = 'IPv4') =>
  state
    .endpointsByPort(
      key,
      family,
    )(UNNAMED)
    .map(({ address }) => address);

beforeEach(() => {
  state = new ClusterState();
});

describe('Services in ClusterState', () => {
  it('tell what changed', () => {
    expect(state.applyService(service())).toEqual(['IPv4']);
    expect(state.applyService(service())).toEqual([]);
    expect(state.applyService(service({ affinitySeconds: 1 }))).toEqual(['IPv4']);
    expect(state.service('shop/cart')?.affinitySeconds).toBe(1);
    expect([...state.serviceKeys()]).toEqual(['shop/cart']);
    expect(state.removeService('shop/cart')).toEqual(['IPv4']);
    expect(state.removeService('shop/cart')).toEqual([]);
    expect([...state.serviceKeys()]).toEqual([]);
  });

  it('concern the families of their addresses, of those that they lost as well', () => {
    const both = service({ clusterIPs: { IPv4: '10.96.7.1', IPv6: 'fd00::1' } });
    expect(state.applyService(both)).toEqual(['IPv4', 'IPv6']);
    expect(state.applyService(service())).toEqual(['IPv4', 'IPv6']);
    expect(state.applyService(service({ affinitySeconds: 1 }))).toEqual(['IPv4']);
    expect(state.applyService(both)).toEqual(['IPv4', 'IPv6']);
    expect(state.removeService('shop/cart')).toEqual(['IPv4', 'IPv6']);
  });
});

it('Services with external IPs are counted', () => {
  const external = service({ externalIPs: [parseAddress('192.0.2.1')!] });
  state.applyService(external);
  state.applyService({ ...external, affinitySeconds: 1 });
  state.applyService(service({ ...external, name: 'pay' }));
  expect(state.externalIPServices).toBe(2);
  state.applyService(service({ name: 'pay' }));
  state.leaveService('shop/cart', 'headless');
  state.removeService('shop/cart');
  expect(state.externalIPServices).toBe(0);
});

describe('Services that are left alone', () => {
  it('are remembered by their kind, until they are served or gone', () => {
    state.applyService(service());
    expect(state.leaveService('shop/cart', 'headless')).toEqual(['IPv4']);
    expect(state.leaveService('shop/cart', 'external-name')).toEqual([]);
    expect([state.service('shop/cart'), state.notProxiedKind('shop/cart')]).toEqual([
      undefined,
      'external-name',
    ]);
    expect([...state.notProxiedKeys()]).toEqual(['shop/cart']);
    expect(state.applyService(service())).toEqual(['IPv4']);
    expect([...state.notProxiedKeys()]).toEqual([]);
    state.leaveService('shop/cart', 'headless');
    expect(state.removeService('shop/cart')).toEqual([]);
    expect(state.notProxiedKind('shop/cart')).toBeUndefined();
  });
});

describe('slices that are left alone', () => {
  it('are remembered by name, until they belong to a Service or are gone', () => {
    state.applySlice(slice('a', [one]));
    expect(state.leaveSlice('shop', 'a')).toEqual([{ service: 'shop/cart', family: 'IPv4' }]);
    expect([[...state.allSlices()], [...state.unlabeledSlices()]]).toEqual([[], ['shop/a']]);
    state.applySlice(slice('a', [one]));
    expect([[...state.allSlices()], [...state.unlabeledSlices()]]).toEqual([[slice('a', [one])], []]);
    expect(state.slicesOf('shop/cart')).toEqual([slice('a', [one])]);
    state.leaveSlice('shop', 'a');
    expect(state.removeSlice('shop', 'a')).toEqual([]);
    expect([...state.unlabeledSlices()]).toEqual([]);
  });
});

describe('slices in ClusterState', () => {
  const cart = { service: 'shop/cart', family: 'IPv4' };

  it('change the endpoints of their Service, whether it is known or not', () => {
    expect(state.applySlice(slice('a', [one]))).toEqual([cart]);
    expect(state.applySlice(slice('b', [two]))).toEqual([cart]);
    expect(addresses()).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(state.applySlice(slice('a', [one]))).toEqual([]);
    expect(state.removeSlice('shop', 'a')).toEqual([cart]);
    expect(state.removeSlice('shop', 'a')).toEqual([]);
    expect(addresses()).toEqual(['10.0.0.2']);
  });

  it('of the same name in other namespaces are others', () => {
    state.applySlice(slice('a', [one]));
    state.applySlice(slice('a', [two], { namespace: 'other' }));
    expect([addresses(), addresses('other/cart')]).toEqual([['10.0.0.1'], ['10.0.0.2']]);
    state.removeSlice('other', 'a');
    expect(addresses()).toEqual(['10.0.0.1']);
  });

  it('move to another Service when the label changes', () => {
    state.applySlice(slice('a', [one]));
    expect(state.applySlice(slice('a', [one], { service: 'till' }))).toEqual([
      cart,
      { service: 'shop/till', family: 'IPv4' },
    ]);
    expect([addresses(), addresses('shop/till')]).toEqual([[], ['10.0.0.1']]);
    expect(state.removeSlice('shop', 'a')).toEqual([{ service: 'shop/till', family: 'IPv4' }]);
    expect(addresses('shop/till')).toEqual([]);
  });

  it('change both families when theirs changes', () => {
    state.applySlice(slice('a', [one]));
    const six = slice('a', [sliceEndpoint('fd00::1')], { family: 'IPv6' });
    expect(state.applySlice(six)).toEqual([cart, { service: 'shop/cart', family: 'IPv6' }]);
    expect([addresses(), addresses('shop/cart', 'IPv6')]).toEqual([[], ['fd00::1']]);
  });

  it('share with their earlier version what is equal', () => {
    const endpoints = () => state.endpointsByPort('shop/cart', 'IPv4')(UNNAMED);
    state.applySlice(slice('cart-1', [one, two]));
    const before = endpoints();
    expect(state.applySlice(slice('cart-1', [one, two]))).toEqual([]);
    expect(endpoints()).toBe(before);
    state.applySlice(slice('cart-1', [sliceEndpoint('10.0.0.0'), two]));
    expect(endpoints()[1]).toBe(before[1]);
  });

  it('that say nothing but a new trigger time are changes', () => {
    state.applySlice(slice('a', [one], { triggerTime: 1 }));
    expect(state.applySlice(slice('a', [one], { triggerTime: 2 }))).toEqual([cart]);
  });

  it('stay when the Service goes and comes again', () => {
    state.applyService(service());
    state.applySlice(slice('a', [one]));
    state.removeService('shop/cart');
    expect(addresses()).toEqual(['10.0.0.1']);
  });
});

describe('Node and service ranges in ClusterState', () => {
  it('tell what changed', () => {
    const node = { name: 'n1', zone: 'a', ips: [], podCIDRs: [], draining: false };
    expect(state.node).toBeUndefined();
    expect(state.applyNode(node)).toBe(true);
    expect(state.applyNode({ ...node })).toBe(false);
    expect(state.applyNode({ ...node, zone: 'b' })).toBe(true);
    expect(state.node?.zone).toBe('b');
    const ranges = { name: 'a', cidrs: [parseCidr('10.96.0.0/16')!] };
    expect(state.applyServiceCidr(ranges)).toBe(true);
    expect(state.applyServiceCidr({ ...ranges })).toBe(false);
    expect([...state.serviceCidrObjects()]).toEqual([ranges]);
    expect([state.removeServiceCidr('a'), state.removeServiceCidr('a')]).toEqual([true, false]);
  });
});
