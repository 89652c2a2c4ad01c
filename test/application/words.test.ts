import { ejectedCountText, ejectionText } from '../../src/application/words.js';

it('says since when, why and until when an endpoint steps aside', () => {
  expect(ejectionText({ since: 0, until: 30_000 })).toBe(
    'steps aside since 1970-01-01T00:00:00.000Z, because the last connections to it got no answer; tried again at 1970-01-01T00:00:30.000Z',
  );
});

it('counts those aside, if any', () => {
  expect([undefined, 0, 1, 7].map(ejectedCountText)).toEqual(['', '', ' (1 aside)', ' (7 aside)']);
});
