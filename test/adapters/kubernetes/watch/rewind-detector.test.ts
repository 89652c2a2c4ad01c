import { isOlder, RewindDetector } from '../../../../src/adapters/kubernetes/watch/known-objects.js';

let detector: RewindDetector;

beforeEach(() => {
  detector = new RewindDetector(120_000);
  detector.observe('1000');
});

describe('the newest version of a resource', () => {
  it('is the one that events are compared with', () => {
    expect(detector.observe('1001')).toBe(false);
    expect(detector.observe('1001')).toBe(false);
    expect(detector.observe('1000')).toBe(true);
    expect(detector.observe('1001')).toBe(false);
  });

  it('begins anew with the storage', () => {
    detector.rewound();
    expect(detector.newest).toBe('');
    expect(detector.observe('900')).toBe(false);
    expect(detector.observe('901')).toBe(false);
    expect([detector.newest, detector.rewinds]).toEqual(['901', 1]);
  });

  it('is suspected at most once in an interval', () => {
    expect([0, 119_999, 120_000].map((now) => detector.suspect(now))).toEqual([true, false, true]);
  });

  it('has no order where versions cannot be compared', () => {
    detector.observe('abc');
    expect(detector.observe('5')).toBe(false);
    expect(detector.observe('4')).toBe(true);
    detector.observe('abc');
    expect(detector.observe('1')).toBe(false);
  });
});

describe('resourceVersions', () => {
  it.each([
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['1234567890123456789', '1234567890123456790', true],
    ['99999999999999999999999999', '100000000000000000000000000', true],
  ])('%s is older than %s: %s', (version, other, older) => expect(isOlder(version, other)).toBe(older));

  it.each([
    ['9', 'abc'],
    ['abc', '9'],
    ['1', '1.5'],
    ['', '5'],
    ['5', ''],
    ['0', '5'],
  ])('%j and %j cannot be compared', (version, other) => expect(isOlder(version, other)).toBe(false));
});
