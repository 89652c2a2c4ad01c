import { BALANCING_METHODS } from '../../../src/domain/balancing/balancing.js';
import { ProblemList } from '../../../src/domain/decode/fields.js';
import { readAnnotations, readSliceWeight } from '../../../src/domain/decode/annotations.js';

const ofService = (annotations: object) => {
  const notes = new ProblemList();
  const read = readAnnotations({ annotations }, notes);
  return { read, notes: notes.texts };
};
const ofSlice = (weight: unknown) => {
  const notes = new ProblemList();
  const read = readSliceWeight({ annotations: { 'kube-proxy-ts/weight': weight } }, notes);
  return { weight: read, notes: notes.texts };
};

describe('the annotation that says how endpoints are chosen', () => {
  it.each(BALANCING_METHODS)('is read: %s', (method) => {
    expect(ofService({ 'kube-proxy-ts/load-balancing': method })).toEqual({
      read: { balancingMethod: method },
      notes: [],
    });
  });

  it.each(['', 'least-requests', true])('is ignored and reported otherwise: %j', (method) => {
    expect(ofService({ 'kube-proxy-ts/load-balancing': method })).toEqual({
      read: {},
      notes: [
        `metadata.annotations[kube-proxy-ts/load-balancing] ${JSON.stringify(method)} is none of random, round-robin, least-connections, maglev, maglev-source; ignored, so endpoints are chosen as without it`,
      ],
    });
  });
});

it('a method that is nearly one of them is suggested', () => {
  const { notes } = ofService({ 'kube-proxy-ts/load-balancing': 'Maglev' });
  expect(notes).toEqual([expect.stringMatching(/ "Maglev" is none of .*; did you mean maglev\?$/)]);
});

describe('weights on a Service', () => {
  const weights = (text: unknown) => ofService({ 'kube-proxy-ts/weight': text });

  it('are read by address, in its canonical form', () => {
    expect(weights('{"10.244.1.5": 0, "FD00::0005": 1000}')).toEqual({
      read: { weights: { '10.244.1.5': 0, 'fd00::5': 1000 } },
      notes: [],
    });
    expect(ofService({})).toEqual({ read: {}, notes: [] });
  });

  it('are ignored one by one where they are wrong', () => {
    const { read, notes } = weights('{"10.244.1.5": 3, "10.244.1.6": 1001, "10.244.1.7": "2", "web-1": 1}');
    expect(read).toEqual({ weights: { '10.244.1.5': 3 } });
    expect(notes).toEqual([
      'metadata.annotations[kube-proxy-ts/weight] has "10.244.1.6": 1001, which is not a whole number from 0 to 1000; ignored, so that endpoint has the weight of its EndpointSlice, else 1',
      expect.stringContaining('"10.244.1.7": "2"'),
      expect.stringContaining('"web-1": 1, which is not an IP address'),
    ]);
  });

  it.each(['5', '[1]', 'null', '{', '', 7])('are ignored as a whole where they are none: %j', (text) => {
    expect(weights(text)).toEqual({
      read: {},
      notes: [expect.stringContaining('is not a JSON object of weights by endpoint address')],
    });
  });
});

describe('the weight of a slice', () => {
  it.each([
    ['0', 0],
    ['1000', 1000],
    ['017', 17],
  ])('is read: %s', (text, weight) => {
    expect(ofSlice(text)).toEqual({ weight, notes: [] });
  });

  it('may be missing', () => {
    expect(ofSlice(undefined)).toEqual({ weight: undefined, notes: [] });
  });

  it.each(['1001', '-1', '1.5', 'heavy', '', 5, '{"10.0.0.1": 5}'])(
    'is ignored and reported otherwise: %j',
    (text) => {
      expect(ofSlice(text)).toEqual({
        weight: undefined,
        notes: [
          `metadata.annotations[kube-proxy-ts/weight] ${JSON.stringify(text)} is not a whole number from 0 to 1000; ignored, so its endpoints have the weight 1`,
        ],
      });
    },
  );
});
