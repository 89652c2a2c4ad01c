import {
  namespacesOf,
  partsOfEndpoints,
  Search,
  type Wanted,
} from '../../../../../src/diagnostics/adapters/page/browser/views/services/search.js';
import { serviceRow } from './samples.js';

const rows = [
  serviceRow('cart'),
  serviceRow('cart-api', {
    type: 'NodePort',
    frontends: ['10.96.0.81:443/TCP', '30443/TCP'],
    ports: ['https', 'admin'],
  }),
  serviceRow('dns', { namespace: 'kube-system', state: 'failed' }),
  serviceRow('empty', { endpoints: { used: 0, known: 3 } }),
];
const search = new Search(rows);
const found = (text: string, wanted: Partial<Wanted> = {}): readonly string[] =>
  search.matching({ search: text, show: 'all', ...wanted }).map(({ name }) => name);

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
    ['failed', ['dns']],
    ['.*', []],
    ['cart dns', []],
  ])('for %j finds %j', (text, names) => {
    expect(found(text)).toEqual(names);
  });

  it('looks among those that are shown', () => {
    expect(found('', { show: 'failing' })).toEqual(['dns']);
    expect(found('', { show: 'without-endpoints' })).toEqual(['empty']);
    expect(found('shop', { show: 'failing' })).toEqual([]);
    expect(found('', { namespace: 'kube-system' })).toEqual(['dns']);
    expect(found('cart', { namespace: 'kube-system' })).toEqual([]);
    expect(found('', { namespace: 'shop', show: 'failing' })).toEqual([]);
  });

  it('shows those of which others hold frontends, and those of which endpoints step aside', () => {
    const two = [
      serviceRow('twin', { state: 'degraded', held: 1 }),
      serviceRow('silent', { endpoints: { used: 1, known: 2, aside: 1 } }),
    ];
    const shown = (show: 'held' | 'aside', text = '') =>
      new Search([...rows, ...two]).matching({ search: text, show }).map(({ name }) => name);
    expect([shown('held'), shown('aside')]).toEqual([['twin'], ['silent']]);
    expect(shown('held', 'held')).toEqual(['twin']);
  });

  it('copies nothing while nothing is searched for', () => {
    expect(search.matching({ search: ' ', show: 'all' })).toBe(rows);
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
      expect(partsOfEndpoints(text)).toEqual(parts);
    });

    it('finds the services that the proxy says have such endpoints, with them, among those that are shown', () => {
      const matches = [
        { service: 'kube-system/dns', endpoints: ['10.244.1.7:53'] },
        { service: 'shop/cart', endpoints: ['10.244.1.7:8080'] },
        { service: 'shop/cart-api', endpoints: ['10.244.1.9:8080'] },
      ];
      const wanted = { search: '10.244.1.7 cart', show: 'all' as const };
      expect(search.matching(wanted, matches)).toEqual([{ ...rows[0], found: '10.244.1.7:8080' }]);
      expect(search.matching({ ...wanted, show: 'failing' }, matches)).toEqual([]);
      expect(search.matching({ ...wanted, search: '10.244.1.7 cart.' }, matches)).toEqual([]);
    });
  });
});

it('the namespaces of services are listed once each, sorted', () => {
  expect(namespacesOf(rows)).toEqual(['kube-system', 'shop']);
});
