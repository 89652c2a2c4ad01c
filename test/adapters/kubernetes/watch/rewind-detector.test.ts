import { isOlder, RewindDetector } from '../../../../src/adapters/kubernetes/watch/rewind-detector.js';

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

  it('may be older than that of the storage: bookmarks lag behind', () => {
    expect(detector.confirm('5000')).toBeUndefined();
    expect(detector.observe('3000')).toBe(false);
    expect(detector.rewinds).toBe(0);
  });

  it('goes back with the server, which counts once', () => {
    expect(detector.confirm('900')).toBe('1000');
    expect(detector.confirm('900')).toBeUndefined();
    expect(detector.observe('901')).toBe(false);
    expect(detector.rewinds).toBe(1);
  });

  it('is suspected at most once in an interval', () => {
    expect([detector.suspect(0), detector.suspected]).toEqual([true, true]);
    detector.confirm('1000');
    expect([detector.suspect(119_999), detector.suspected]).toEqual([false, false]);
    expect([detector.suspect(120_000), detector.suspected]).toEqual([true, true]);
  });

  it('cannot go back where versions cannot be compared', () => {
    detector.observe('abc');
    expect(detector.observe('5')).toBe(false);
    expect(detector.confirm('4')).toBe('5');
    detector.observe('abc');
    expect(detector.confirm('1')).toBeUndefined();
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
