import { rawSlice } from '../../support/objects.js';
import { Bench, services, START } from './bench.js';

const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';
const at = (offset: number) => ({ annotations: { [TRIGGER]: new Date(START + offset).toISOString() } });
const endpoints = (...addresses: string[]) => ({
  endpoints: addresses.map((address) => ({ addresses: [address] })),
});
let bench: Bench;
const apply = (fields: object = {}, metadata: object = {}) =>
  bench.events.applied('EndpointSlice', rawSlice(fields, metadata));
const remove = (name = 'cart-1') => bench.events.deleted('EndpointSlice', { namespace: 'shop', name });

beforeEach(() => {
  bench = new Bench();
});

describe('EndpointSliceHandler', () => {
  it('notifies the family of the slice, and no other', () => {
    apply();
    expect(bench.heard()).toEqual([services('shop/cart'), undefined]);
    apply({ addressType: 'IPv6', ...endpoints('fd00::1') }, { name: 'cart-6' });
    expect(bench.heard()).toEqual([undefined, services('shop/cart')]);
    apply();
    expect(bench.heard()).toEqual([undefined, undefined]);
    remove();
    expect(bench.heard()).toEqual([services('shop/cart'), undefined]);
    remove();
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect(bench.observer.calls).toEqual([
      'slice true',
      'slice true',
      'slice false',
      'slice true',
      'slice false',
    ]);
  });

  it('remembers slices without a label, which may be meant for a Service, and none that need no proxy', () => {
    apply({}, { labels: {} });
    apply({}, { name: 'cart-2', labels: { 'service.kubernetes.io/headless': '' } });
    apply({ addressType: 'FQDN', endpoints: [] }, { name: 'cart-3' });
    expect([...bench.state.unlabeledSlices()]).toEqual(['shop/cart-1']);
    apply();
    expect([...bench.state.unlabeledSlices()]).toEqual([]);
  });

  it('keeps the last valid form of a slice that becomes invalid, and reports it once', () => {
    apply();
    bench.heard();
    for (let i = 0; i < 2; i++) apply(endpoints('nonsense'));
    expect(bench.endpoints()).toEqual(['10.244.1.5:8080']);
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect(bench.logger.at('error')).toHaveLength(1);
    remove();
    expect([bench.endpoints(), bench.reports.rejected]).toEqual([[], []]);
  });

  it.each([
    ['headless', {}, { labels: { 'service.kubernetes.io/headless': '' } }],
    ['of no Service', {}, { labels: {} }],
    ['FQDN', { addressType: 'FQDN' }, {}],
  ])('removes a slice that becomes %s', (_, fields, metadata) => {
    apply();
    bench.heard();
    apply(fields, metadata);
    expect(bench.endpoints()).toEqual([]);
    expect(bench.heard()).toEqual([services('shop/cart'), undefined]);
    expect(bench.logger.lines).toEqual([]);
  });

  it('a new label moves the slice: both Services change', () => {
    apply();
    bench.heard();
    apply({}, { labels: { 'kubernetes.io/service-name': 'till' } });
    expect(bench.heard()[0]).toEqual(services('shop/cart', 'shop/till'));
    expect([bench.endpoints(), bench.endpoints('IPv4', 'shop/till')]).toEqual([[], ['10.244.1.5:8080']]);
  });
});

describe('trigger times (docs/internals/spec/model.md §8)', () => {
  const times = () => (bench.heard()[0] as { triggerTimes: number[] }).triggerTimes;

  it('are noted with the change, those after the start of the process', () => {
    apply({}, at(100));
    apply({}, { name: 'cart-2', ...at(200) });
    expect(times()).toEqual([START + 100, START + 200]);
    apply(endpoints('10.0.0.1'), at(0));
    expect(times()).toEqual([]);
    apply(endpoints('10.0.0.2'), at(-1));
    expect(times()).toEqual([]);
    apply(endpoints('10.0.0.3'));
    expect(times()).toEqual([]);
    expect(bench.logger.lines).toEqual([]);
  });

  it('are not noted when nothing changed', () => {
    apply({}, at(100));
    bench.heard();
    apply({}, at(100));
    expect(bench.heard()).toEqual([undefined, undefined]);
  });

  it('are dropped with any slice of the Service that goes', () => {
    apply({}, at(100));
    apply({}, { name: 'cart-2', ...at(200) });
    remove('cart-2');
    expect(times()).toEqual([]);
  });

  it('stay when a slice that was not known goes', () => {
    apply({}, at(100));
    remove('cart-2');
    expect(times()).toEqual([START + 100]);
  });

  it('that are not times are reported; the slice is used', () => {
    apply({}, { annotations: { [TRIGGER]: 'soon' } });
    expect(times()).toEqual([]);
    expect(bench.logger.at('warn')).toHaveLength(1);
    expect(bench.endpoints()).toEqual(['10.244.1.5:8080']);
  });
});

describe('EndpointsHandler', () => {
  const applyEndpoints = (...subsets: object[]) =>
    bench.events.applied('Endpoints', { metadata: { namespace: 'shop', name: 'cart' }, subsets });
  const subset = (...ips: string[]) => ({ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 80 }] });

  it('counts as slices that say the same, and goes with them', () => {
    applyEndpoints(subset('10.0.0.1', 'fd00::1'), { ...subset('10.0.0.2'), ports: [{ port: 81 }] });
    expect(bench.heard()).toEqual([services('shop/cart'), services('shop/cart')]);
    expect([bench.endpoints(), bench.endpoints('IPv6')]).toEqual([
      ['10.0.0.1:80', '10.0.0.2:81'],
      ['[fd00::1]:80'],
    ]);
    applyEndpoints(subset('10.0.0.1'));
    expect([bench.endpoints(), bench.endpoints('IPv6')]).toEqual([['10.0.0.1:80'], []]);
    expect(bench.heard()).toEqual([services('shop/cart'), services('shop/cart')]);
    applyEndpoints(subset('10.0.0.1'));
    expect(bench.heard()).toEqual([undefined, undefined]);
    bench.events.deleted('Endpoints', { namespace: 'shop', name: 'cart' });
    expect(bench.heard()).toEqual([services('shop/cart'), undefined]);
    expect(bench.endpoints()).toEqual([]);
    applyEndpoints(subset('10.0.0.3'));
    expect(bench.endpoints()).toEqual(['10.0.0.3:80']);
  });

  it('does not touch the slices of the same Service', () => {
    apply();
    applyEndpoints(subset('10.0.0.1'));
    applyEndpoints();
    expect(bench.endpoints()).toEqual(['10.244.1.5:8080']);
  });

  it('keeps the last valid form, and reports once', () => {
    applyEndpoints(subset('10.0.0.1'));
    for (let i = 0; i < 2; i++) applyEndpoints(subset('nonsense'));
    expect(bench.endpoints()).toEqual(['10.0.0.1:80']);
    expect(bench.logger.at('error')).toHaveLength(1);
    expect(bench.reports.rejected).toHaveLength(1);
    bench.events.deleted('Endpoints', { namespace: 'shop', name: 'cart' });
    expect([bench.endpoints(), bench.reports.rejected]).toEqual([[], []]);
  });
});
