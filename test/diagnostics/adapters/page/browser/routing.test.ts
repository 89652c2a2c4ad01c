import fc from 'fast-check';
import {
  hrefOf,
  parseRoute,
  type Route,
} from '../../../../../src/diagnostics/adapters/page/browser/routing.js';

const name = fc.string({ unit: 'grapheme', minLength: 1 });
const words = fc.string({ unit: 'grapheme' });
const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constant({ view: 'overview' as const }),
  fc.record({
    view: fc.constant('services' as const),
    search: words,
    problems: fc.boolean(),
    rows: fc.nat(),
  }),
  fc.record({ view: fc.constant('history' as const), filter: words, problems: fc.boolean(), rows: fc.nat() }),
  fc.record({ view: fc.constant('service' as const), namespace: name, name, rows: fc.nat() }),
  fc.record({
    view: fc.constant('trace' as const),
    from: words,
    to: words,
    kernel: fc.boolean(),
    rows: fc.nat(),
  }),
);

describe('a route', () => {
  it('is found again from its address, whatever its texts contain', () => {
    fc.assert(fc.property(routes, (route) => expect(parseRoute(hrefOf(route))).toEqual(route)));
  });

  it.each(['', '#', '#/', '#/nothing', '#/service', '#/service/shop', '#/%E0%A4%A'])(
    'is the overview at %j',
    (hash) => expect(parseRoute(hash)).toEqual({ view: 'overview' }),
  );

  it('has the first rows where the address has none', () => {
    expect(parseRoute('#/services?rows=many&search=a+b')).toEqual({
      view: 'services',
      search: 'a b',
      problems: false,
      rows: 0,
    });
  });

  it('needs no words for what is not chosen', () => {
    expect(hrefOf({ view: 'services', search: '' })).toBe('#/services');
  });
});
