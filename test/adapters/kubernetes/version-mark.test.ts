import { VersionMark } from '../../../src/adapters/kubernetes/version-mark.js';

let mark: VersionMark;

beforeEach(() => {
  mark = new VersionMark(120_000);
  mark.saw('1000');
});

describe('the newest version of a resource', () => {
  it('is what events are older than', () => {
    expect(mark.saw('1001')).toBe(false);
    expect(mark.saw('1001')).toBe(false);
    expect(mark.saw('1000')).toBe(true);
    expect(mark.saw('1001')).toBe(false);
  });

  it('is not what the storage stands at: bookmarks may lag behind that', () => {
    expect(mark.standsAt('5000')).toBeUndefined();
    expect(mark.saw('3000')).toBe(false);
    expect(mark.rewinds).toBe(0);
  });

  it('falls when the server has gone back, which counts once', () => {
    expect(mark.standsAt('900')).toBe('1000');
    expect(mark.standsAt('900')).toBeUndefined();
    expect(mark.saw('901')).toBe(false);
    expect(mark.rewinds).toBe(1);
  });

  it('is doubted at most once in an interval', () => {
    expect([mark.doubt(0), mark.doubted]).toEqual([true, true]);
    mark.standsAt('1000');
    expect([mark.doubt(119_999), mark.doubted]).toEqual([false, false]);
    expect([mark.doubt(120_000), mark.doubted]).toEqual([true, true]);
  });

  it('cannot fall where versions cannot be compared', () => {
    mark.saw('abc');
    expect(mark.saw('5')).toBe(false);
    expect(mark.standsAt('4')).toBe('5');
    mark.saw('abc');
    expect(mark.standsAt('1')).toBeUndefined();
  });
});
