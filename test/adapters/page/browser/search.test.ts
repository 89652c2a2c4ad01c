import type { ServiceRow } from '../../../../src/application/status/service-row.js';
import { Search } from '../../../../src/adapters/page/browser/views/services/search.js';

const row = (name: string, more: Partial<ServiceRow> = {}): ServiceRow => ({
  namespace: 'shop',
  name,
  type: 'ClusterIP',
  frontends: ['10.96.0.80:80/TCP'],
  endpoints: { used: 2, known: 2 },
  state: 'programmed',
  ...more,
});
const rows = [
  row('cart'),
  row('cart-api', { type: 'NodePort', frontends: ['10.96.0.81:443/TCP', '30443/TCP'] }),
  row('dns', { namespace: 'kube-system', state: 'failed' }),
  row('empty', { endpoints: { used: 0, known: 3 } }),
];
const search = new Search(rows);
const found = (text: string, show: Parameters<Search['matching']>[1] = 'all'): readonly string[] =>
  search.matching(text, show).map(({ name }) => name);

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
    ['failed', ['dns']],
    ['.*', []],
    ['cart dns', []],
  ])('for %j finds %j', (text, names) => {
    expect(found(text)).toEqual(names);
  });

  it('looks among those that are shown', () => {
    expect(found('', 'failing')).toEqual(['dns']);
    expect(found('', 'without-endpoints')).toEqual(['empty']);
    expect(found('shop', 'failing')).toEqual([]);
  });

  it('copies nothing while nothing is searched for', () => {
    expect(search.matching(' ', 'all')).toBe(rows);
  });
});
