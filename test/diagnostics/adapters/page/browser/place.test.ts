import fc from 'fast-check';
import {
  hrefOf,
  placeOf,
  SHOWS,
  type Place,
} from '../../../../../src/diagnostics/adapters/page/browser/place.js';

const name = fc.string({ unit: 'grapheme', minLength: 1 });
const words = fc.string({ unit: 'grapheme' });
const places: fc.Arbitrary<Place> = fc.oneof(
  fc.constant({ view: 'overview' as const }),
  fc.record({
    view: fc.constant('services' as const),
    search: words,
    show: fc.constantFrom(...SHOWS),
    namespace: words,
    sort: fc.option(fc.record({ by: fc.constantFrom('name', 'endpoints'), isDescending: fc.boolean() }), {
      nil: undefined,
    }),
  }),
  fc.record({ view: fc.constant('history' as const), search: words, failing: fc.boolean() }),
  fc.record({ view: fc.constant('service' as const), namespace: name, name }),
  fc.record({ view: fc.constant('trace' as const), from: words, to: words, kernel: fc.boolean() }),
);

describe('a place', () => {
  it('is found again from its address, whatever its texts contain', () => {
    fc.assert(fc.property(places, (place) => expect(placeOf(hrefOf(place))).toEqual(place)));
  });

  it.each(['', '#', '#/', '#/nothing', '#/service', '#/service/shop', '#/%E0%A4%A'])(
    'is the overview at %j',
    (hash) => expect(placeOf(hash)).toEqual({ view: 'overview' }),
  );

  it('shows all services when the address asks for what there is not', () => {
    expect(placeOf('#/services?show=none&search=a+b')).toEqual({
      view: 'services',
      search: 'a b',
      show: 'all',
      namespace: '',
    });
  });

  it('needs no words for what is not chosen', () => {
    expect(hrefOf({ view: 'services', search: '', show: 'all' })).toBe('#/services');
  });
});
