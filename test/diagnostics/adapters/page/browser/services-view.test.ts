import {
  endpointParts,
  searchServices,
  sortServices,
} from '../../../../../src/diagnostics/adapters/page/browser/views/services-view.js';
import { serviceRow } from './samples.js';

const rows = [
  serviceRow('cart'),
  serviceRow('cart-api', {
    type: 'NodePort',
    frontends: ['10.96.0.81:443/TCP', '30443/TCP'],
    portNames: ['https', 'admin'],
  }),
  serviceRow('dns', { namespace: 'kube-system', state: 'error' }),
  serviceRow('empty', { endpointCounts: { used: 0, known: 3 }, state: 'warning' }),
];
const ALL = { search: '', show: '', namespace: '' } as const;
const found = (
  search: string,
  wanted: Partial<Parameters<typeof searchServices>[1]> = {},
): readonly string[] => searchServices(rows, { ...ALL, search, ...wanted }).map(({ name }) => name);

describe('the search', () => {
  it.each([
    ['', ['cart', 'cart-api', 'dns', 'empty']],
    ['cart', ['cart', 'cart-api']],
    ['CART', ['cart', 'cart-api']],
    ['  nodeport  ', ['cart-api']],
    ['30443', ['cart-api']],
    ['10.96.0.81', ['cart-api']],
    ['shop/c api', ['cart-api']],
    ['api shop/c', ['cart-api']],
    ['kube-system', ['dns']],
    ['shop/cart-api:admin', ['cart-api']],
    [':https', ['cart-api']],
    ['error', ['dns']],
    ['.*', []],
    ['cart dns', []],
  ])('for %j finds %j', (text, names) => {
    expect(found(text)).toEqual(names);
  });

  it('looks among those that are shown', () => {
    expect(found('', { show: 'problems' })).toEqual(['dns', 'empty']);
    expect(found('cart', { show: 'problems' })).toEqual([]);
    expect(found('', { namespace: 'kube-system' })).toEqual(['dns']);
    expect(found('cart', { namespace: 'kube-system' })).toEqual([]);
    expect(found('', { namespace: 'kube-system', show: 'problems' })).toEqual(['dns']);
  });

  it('shows those of which endpoints are ejected', () => {
    const ejecting = serviceRow('ejecting', { endpointCounts: { used: 1, known: 2, ejected: 1 } });
    const shown = searchServices([...rows, ejecting], { ...ALL, show: 'aside' }).map(({ name }) => name);
    expect(shown).toEqual(['ejecting']);
  });

  describe('for an address', () => {
    it.each([
      ['10.244.1.7', ['10.244.1.7']],
      ['cart FD00::1 [fd00::2]:80', ['fd00::1', '[fd00::2]:80']],
      [':8080', [':8080']],
      ['10.', []],
      ['shop/cart', []],
      ['8080', []],
      ['feed', []],
    ])('asks in %j for the endpoints of %j', (text, parts) => {
      expect(endpointParts(text)).toEqual(parts);
    });

    it('finds the services that the proxy says have such endpoints, with them, among those that are shown', () => {
      const matches = [
        { service: 'kube-system/dns', endpoints: ['10.244.1.7:53'] },
        { service: 'shop/cart', endpoints: ['10.244.1.7:8080'] },
        { service: 'shop/cart-api', endpoints: ['10.244.1.9:8080'] },
      ];
      const wanted = { ...ALL, search: '10.244.1.7 cart' };
      expect(searchServices(rows, wanted, matches)).toEqual([{ ...rows[0], found: '10.244.1.7:8080' }]);
      expect(searchServices(rows, { ...wanted, show: 'problems' }, matches)).toEqual([]);
      expect(searchServices(rows, { ...wanted, search: '10.244.1.7 cart.' }, matches)).toEqual([]);
    });
  });
});

const unsorted = [
  serviceRow('a', { frontends: ['10.96.0.100:80/TCP'], endpointCounts: { used: 10, known: 10 } }),
  serviceRow('b', { frontends: ['10.96.0.9:80/TCP'], type: 'NodePort', namespace: 'a' }),
  serviceRow('c', {
    frontends: ['10.96.0.9:443/TCP'],
    endpointCounts: { used: 0, known: 3 },
    state: 'warning',
  }),
  serviceRow('d', { frontends: [], state: 'error' }),
];
const sorted = (sort: string): string =>
  sortServices(unsorted, sort)
    .map(({ name }) => name)
    .join('');

describe('rows', () => {
  it.each([
    ['state', 'dcab'],
    ['name', 'bacd'],
    ['type', 'acdb'],
    ['endpoints', 'cbda'],
    ['frontends', 'dbca'],
  ])('sorted by %s are %s, what is equal in the order in which it came', (by, names) => {
    expect(sorted(by)).toBe(names);
  });

  it('are sorted the other way round', () => {
    expect(sorted('-endpoints')).toBe('abdc');
  });

  it('stay as they are, if no column is chosen or there is no such column', () => {
    expect(sortServices(unsorted, '')).toBe(unsorted);
    expect(sorted('nothing')).toBe('abcd');
  });
});
