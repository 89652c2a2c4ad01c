import { ejectedCountText, ejectionText } from '../../src/application/words.js';

it('reports since when, why and until when an endpoint is ejected', () => {
  expect(ejectionText({ since: 0, until: 30_000 })).toBe(
    'ejected since 1970-01-01T00:00:00.000Z, because the last connections to it got no answer; tried again at 1970-01-01T00:00:30.000Z',
  );
});

it('counts ejected endpoints, if any', () => {
  expect([undefined, 0, 1, 7].map(ejectedCountText)).toEqual(['', '', ' (1 ejected)', ' (7 ejected)']);
});
