import { staleSources } from '../../../src/application/health/proxy-health.js';
import type { SourceStatus } from '../../../src/application/ports/cluster-source.js';

const NOW = 10_000_000;

const status = (parts: Partial<SourceStatus>): SourceStatus => ({
  kind: 'Service',
  state: 'watching',
  synced: true,
  connected: true,
  objects: 1,
  lastActivity: NOW,
  ...parts,
});

const reasonOf = (parts: Partial<SourceStatus>): string | undefined =>
  staleSources([status(parts)], NOW)[0]?.reason;

describe('staleSources', () => {
  it('finds nothing where news arrives', () => {
    expect(reasonOf({})).toBeUndefined();
    expect(reasonOf({ lastActivity: NOW - 179_000 })).toBeUndefined();
    expect(
      reasonOf({ state: 'backing-off', connected: false, lastActivity: NOW - 59_000, failure: 'refused' }),
    ).toBeUndefined();
  });

  it('names a watch that hangs, one that is missing, and a list that never came', () => {
    expect(reasonOf({ lastActivity: NOW - 200_000 })).toBe('the watch has been idle for 200 s');
    expect(reasonOf({ state: 'backing-off', connected: false, lastActivity: NOW - 60_000 })).toBe(
      'no watch for 60 s',
    );
    expect(
      reasonOf({ state: 'backing-off', connected: false, lastActivity: NOW - 61_500, failure: 'refused' }),
    ).toBe('no watch for 61 s: refused');
    expect(
      staleSources([{ ...status({ synced: false, connected: false }), failure: 'forbidden' }], NOW),
    ).toEqual([{ kind: 'Service', reason: 'not listed yet: forbidden' }]);
  });

  it('expects nothing of what the cluster does not have, or of what has ended', () => {
    expect(reasonOf({ state: 'absent', connected: false, lastActivity: 0, failure: '404' })).toBeUndefined();
    expect(reasonOf({ state: 'stopped', connected: false, lastActivity: 0 })).toBeUndefined();
  });
});
