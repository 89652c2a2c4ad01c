import { rawService } from '../../support/objects.js';
import { Bench, FRONTENDS_LIMIT, services } from './bench.js';

const NAME = { namespace: 'shop', name: 'cart' };
let bench: Bench;
const apply = (spec: object = {}, rest: object = {}) =>
  bench.events.applied('Service', rawService(spec, rest));

beforeEach(() => {
  bench = new Bench();
});

describe('ServiceHandler', () => {
  it('notifies the families that it has addresses of, or had, and no other', () => {
    apply();
    expect(bench.heard()).toEqual([services('shop/cart'), undefined]);
    apply({ clusterIPs: ['10.96.7.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] });
    expect(bench.heard()).toEqual([services('shop/cart'), services('shop/cart')]);
    apply();
    expect(bench.heard()).toEqual([services('shop/cart'), services('shop/cart')]);
    bench.events.deleted('Service', NAME);
    expect(bench.heard()).toEqual([services('shop/cart'), undefined]);
  });

  it('notifies of a change, and of nothing else', () => {
    apply();
    expect(bench.heard()[0]).toEqual(services('shop/cart'));
    apply({}, { metadata: { ...NAME, labels: { a: 'b' }, resourceVersion: '2' } });
    expect(bench.heard()).toEqual([undefined, undefined]);
    apply({ sessionAffinity: 'ClientIP' });
    expect(bench.heard()[0]).toEqual(services('shop/cart'));
    expect(bench.observer.calls).toEqual(['service true', 'service false', 'service true']);
  });

  describe('of too many frontends', () => {
    const ports = (count: number, parts: object = {}) =>
      Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1, ...parts }));

    it('is ignored by name, and its last valid version stays', () => {
      apply({ ports: ports(FRONTENDS_LIMIT) });
      const last = bench.state.service('shop/cart');
      bench.heard();
      apply({ ports: ports(FRONTENDS_LIMIT + 1) });
      expect([bench.state.service('shop/cart'), bench.heard()]).toEqual([last, [undefined, undefined]]);
      const problem =
        'spec.ports has 13 ports on 1 address: 13 frontends, more than --service-frontends-limit=12';
      expect(bench.reports.rejected).toEqual([`Service shop/cart: ${problem}`]);
      expect(bench.reports.of('shop/cart', [])).toEqual([
        { object: 'Service shop/cart', text: problem, usable: false },
      ]);
      expect(bench.logger.at('error')).toEqual([
        expect.objectContaining({
          facts: { kind: 'Service', name: 'shop/cart', problems: [problem] },
          message: 'object is invalid and ignored; keeping the last valid version',
        }),
      ]);
      apply({ ports: ports(2) });
      expect([bench.reports.rejected, bench.state.service('shop/cart')?.ports.length]).toEqual([[], 2]);
    });

    it('counts addresses of all kinds and families, each once, and node ports', () => {
      const spec = {
        clusterIPs: ['10.96.7.1', 'fd00::1'],
        ipFamilies: ['IPv4', 'IPv6'],
        type: 'LoadBalancer',
        externalIPs: ['192.0.2.7', '192.0.2.7'],
        ports: ports(3, { nodePort: 30_000 }),
      };
      apply(spec);
      expect(bench.reports.rejected).toEqual([]);
      apply(spec, { status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } });
      expect(bench.reports.rejected).toEqual([
        'Service shop/cart: spec.ports has 3 ports on 4 addresses, 3 with a node port: 15 frontends, more than --service-frontends-limit=12',
      ]);
    });

    it('is one with too many source ranges for its load-balancer frontends, too', () => {
      const ranges = Array.from({ length: 32_769 }, (_, index) => `100.64.${index >> 8}.${index & 255}/32`);
      const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } };
      apply({ ports: ports(2), loadBalancerSourceRanges: ranges.slice(1) }, { status });
      expect(bench.reports.rejected).toEqual([]);
      apply({ ports: ports(2), loadBalancerSourceRanges: ranges }, { status });
      expect(bench.reports.rejected).toEqual([
        'Service shop/cart: spec.loadBalancerSourceRanges has 32769 ranges for 2 ports on 1 load-balancer IPs: 65538 in all, more than 65536',
      ]);
    });
  });

  it('removes what is deleted; deleting something unknown is not a change', () => {
    apply();
    bench.heard();
    bench.events.deleted('Service', NAME);
    expect(bench.heard()[0]).toEqual(services('shop/cart'));
    expect(bench.state.service('shop/cart')).toBeUndefined();
    bench.events.deleted('Service', NAME);
    expect(bench.heard()).toEqual([undefined, undefined]);
  });

  it('an invalid update keeps the last valid form and is reported once, until it changes', () => {
    apply();
    bench.heard();
    for (let i = 0; i < 3; i++) apply({ clusterIP: 'nonsense' });
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect(bench.state.service('shop/cart')?.clusterIPs).toEqual({ IPv4: '10.96.7.1' });
    expect(bench.logger.lines).toEqual([
      expect.objectContaining({
        level: 'error',
        facts: { kind: 'Service', name: 'shop/cart', problems: [expect.stringContaining('spec.clusterIP')] },
      }),
    ]);
    expect(bench.reports.rejected).toEqual([expect.stringContaining('Service shop/cart: spec.clusterIP')]);
    apply({ clusterIP: 'other nonsense' });
    expect(bench.logger.at('error')).toHaveLength(2);
    apply();
    expect(bench.reports.rejected).toEqual([]);
    apply({ clusterIP: 'nonsense' });
    expect(bench.logger.at('error')).toHaveLength(3);
  });

  it('an invalid object is ignored, and others are not affected', () => {
    apply({ ports: [{ port: 0 }] });
    bench.events.applied('Service', rawService({}, { metadata: { namespace: 'shop', name: 'till' } }));
    expect([...bench.state.serviceKeys()]).toEqual(['shop/till']);
  });

  it('ignored parts are a warning; the rest is used', () => {
    for (let i = 0; i < 2; i++) apply({ externalIPs: ['192.0.2.1', 'x'] });
    expect(bench.state.service('shop/cart')?.externalIPs).toHaveLength(1);
    expect(bench.logger.lines).toEqual([expect.objectContaining({ level: 'warn' })]);
    expect(bench.reports.rejected).toEqual([]);
  });

  it.each([
    ['headless', { clusterIP: 'None' }, {}],
    ['ExternalName', { type: 'ExternalName' }, {}],
    [
      'of another proxy',
      {},
      { metadata: { ...NAME, labels: { 'service.kubernetes.io/service-proxy-name': 'x' } } },
    ],
  ])('a Service that becomes %s is removed, silently', (_, spec, rest) => {
    apply();
    bench.heard();
    apply(spec, rest);
    expect(bench.heard()[0]).toEqual(services('shop/cart'));
    expect(bench.state.service('shop/cart')).toBeUndefined();
    expect(bench.logger.lines).toEqual([]);
    apply(spec, rest);
    expect(bench.heard()[0]).toBeUndefined();
  });

  it.each([null, undefined, 7, 'x', [], {}, { metadata: null }, { metadata: { name: 'a\n"b' } }])(
    'survives %j',
    (object) => {
      bench.events.applied('Service', object);
      expect(bench.logger.at('error')).toHaveLength(1);
      expect(JSON.stringify(bench.logger.lines)).not.toMatch(/\n/);
      expect(bench.heard()).toEqual([undefined, undefined]);
    },
  );
});
