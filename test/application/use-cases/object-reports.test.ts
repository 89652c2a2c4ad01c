import { ObjectReports } from '../../../src/application/use-cases/object-reports.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { rawSlice, rawService } from '../../support/objects.js';
import { Bench } from './bench.js';

let bench: Bench;

beforeEach(() => {
  bench = new Bench();
});

const length = () => Math.max(...bench.logger.lines.map((line) => JSON.stringify(line).length));
const many = <T>(make: (index: number) => T): readonly T[] =>
  Array.from({ length: 20_000 }, (_, index) => make(index));
const weighted = (mark: string) =>
  rawService(
    {},
    {
      metadata: {
        namespace: 'shop',
        name: 'cart',
        annotations: {
          'kube-proxy-ts/weight': JSON.stringify({
            ...Object.fromEntries(many((index) => [`${mark}${index}`, 0])),
            '10.244.1.5': 7,
          }),
        },
      },
    },
  );

it('names the first problems of an object and counts the others', () => {
  bench.events.applied('Service', weighted('a'));
  expect(bench.logger.lines).toHaveLength(1);
  const { problems } = bench.logger.lines[0]!.facts as { readonly problems: readonly string[] };
  expect(problems.at(0)).toMatch(/^metadata\.annotations\[kube-proxy-ts\/weight\] has "a0": 0,/);
  expect(problems.at(-1)).toMatch(/… and 19995 more problems$|more characters\)$/);
  // What is valid is read, wherever it stands.
  expect(bench.state.service('shop/cart')?.weights).toEqual({ '10.244.1.5': 7 });
});

it.each<[string, 'Service' | 'EndpointSlice', object]>([
  ['keys of an annotation', 'Service', weighted('a'.repeat(100))],
  [
    'an annotation',
    'Service',
    rawService(
      {},
      {
        metadata: {
          namespace: 'shop',
          name: 'cart',
          annotations: { 'kube-proxy-ts/load-balancing': 'x'.repeat(250_000) },
        },
      },
    ),
  ],
  ['external IPs', 'Service', rawService({ externalIPs: many((index) => `x${index}${'y'.repeat(40)}`) })],
  [
    'load-balancer IPs',
    'Service',
    rawService({}, { status: { loadBalancer: { ingress: many((index) => ({ ip: `x${index}` })) } } }),
  ],
  ['source ranges', 'Service', rawService({ loadBalancerSourceRanges: many((index) => `x${index}`) })],
  [
    'a cluster IP',
    'Service',
    rawService({ clusterIP: 'x'.repeat(1_000_000), clusterIPs: ['x'.repeat(1_000_000)] }),
  ],
  ['slice ports', 'EndpointSlice', rawSlice({ ports: many(() => ({})) })],
  ['slice endpoints', 'EndpointSlice', rawSlice({ endpoints: many(() => ({ addresses: [] })) })],
])('says what is wrong with invalid %s in a message of little more than a kilobyte', (_, kind, object) => {
  bench.events.applied(kind, object);
  expect(bench.logger.lines).toHaveLength(1);
  expect(length()).toBeLessThan(1_300);
  const texts = bench.reports.of('shop/cart', ['shop/cart-1']).map(({ text }) => text);
  expect(texts.join().length).toBeLessThan(1_300);
});

it('does not log every change of an object that has other problems all the time', () => {
  const other = (change: number) => rawService({ externalIPs: [`x${change % 2}`] });
  for (let change = 0; change < 1_000; change++) bench.events.applied('Service', other(change));
  expect(bench.logger.lines).toHaveLength(5);
  bench.clock.advance(60_000);
  bench.events.applied('Service', other(0));
  expect(bench.logger.lines.at(-1)!.facts).toMatchObject({ name: 'shop/cart', suppressed: 995 });
  expect(bench.reports.of('shop/cart', [])).toMatchObject([
    { text: expect.stringContaining('"x0"') as string },
  ]);
});

it('an object is reported until it is corrected or deleted', () => {
  const name = 'shop/cart';
  const invalid = rawService({ ports: [{ port: 0 }] });
  bench.events.applied('Service', invalid);
  expect(bench.reports.of(name, [])).toMatchObject([{ object: `Service ${name}`, usable: false }]);
  expect(bench.reports.rejectedServices).toEqual([expect.stringContaining(`Service ${name}: `)]);
  bench.events.applied('Service', rawService());
  expect([bench.reports.of(name, []), bench.reports.rejected]).toEqual([[], []]);
  bench.events.applied('Service', invalid);
  expect(bench.reports.rejected).toHaveLength(1);
  bench.events.deleted('Service', { namespace: 'shop', name: 'cart' });
  expect(bench.reports.rejected).toEqual([]);
});

describe('problems of which the source itself reports', () => {
  const unread = [
    'a.yaml:7: Service shop/cart: spec.type: is missing',
    'a.yaml:9: EndpointSlice shop/cart-abcde: addressType: is missing',
    'a.yaml:11: EndpointSlice shop/other-fghij: addressType: is missing',
    'a.yaml:13: Endpoints shop/dns: subsets: is missing',
    'b.yaml: EACCES',
  ];
  const reports = new ObjectReports(new MemoryLogger(), new FakeClock(), () => unread);

  it('belong to the Service that they are named after, or whose slices they name', () => {
    const of = (service: string, ...slices: string[]) =>
      reports.of(service, slices).map(({ object }) => object);
    expect(of('shop/cart')).toEqual(['Service shop/cart', 'EndpointSlice shop/cart-abcde']);
    expect(of('shop/none', 'shop/other-fghij')).toEqual(['EndpointSlice shop/other-fghij']);
    expect(of('shop/dns')).toEqual(['Endpoints shop/dns']);
    expect(of('shop/none')).toEqual([]);
    expect(reports.unreadServices).toEqual(['shop/cart', 'shop/cart', 'shop/other', 'shop/dns']);
  });

  it('are counted by kind, those without an object as unreadable', () => {
    reports.report('Node', 'n1', ['no name'], false);
    reports.report('Service', 'shop/web', ['an annotation'], true);
    expect(Object.fromEntries(reports.ignoredByKind)).toEqual({
      Service: 1,
      EndpointSlice: 2,
      Endpoints: 1,
      Node: 1,
      ServiceCIDR: 0,
      unreadable: 1,
    });
    expect([reports.unusable.length, reports.ignored.length, reports.partlyIgnored]).toEqual([6, 5, 1]);
    expect([reports.rejected, reports.rejectedServices]).toEqual([['Node n1: no name'], []]);
  });

  it('of one object are named up to 1,024 characters', () => {
    const named = (...lengths: readonly number[]): string => {
      reports.report(
        'Service',
        'shop/long',
        lengths.map((length) => 'x'.repeat(length)),
        true,
      );
      return reports.of('shop/long', [])[0]!.text;
    };
    expect(named(1_024, 5)).toBe('x'.repeat(1_024));
    expect(named(1_023, 5)).toBe(`${'x'.repeat(1_023)}; x… (4 more characters)`);
    expect(named(500, 500).length).toBe(1_002);
  });
});
