import {
  BALANCING_METHODS,
  methodOfScheduler,
  balancingNote,
} from '../../../src/domain/balancing/balancing.js';
describe('what a mode does in place of what is asked for', () => {
  it('is said of hashing in mode iptables', () => {
    const balancing = { method: 'maglev', isWeighted: true } as const;
    expect(balancingNote({ balancing }, 'iptables', [])).toBe(
      'iptables mode does not support maglev; endpoints are chosen at random, by their weights',
    );
    expect(balancingNote({ balancing }, 'nftables', BALANCING_METHODS)).toBeUndefined();
  });

  it.each(['lblc', 'ovf', 'constructor'])('names a scheduler that no method is like: %s', (scheduler) => {
    expect(methodOfScheduler(scheduler)).toBeUndefined();
    expect(balancingNote({ scheduler }, 'nftables', BALANCING_METHODS)).toBe(
      `nftables mode has no scheduler ${scheduler}; endpoints are chosen at random`,
    );
  });

  it.each(['lc', 'wlc', 'sed', 'nq'])('takes least connections for the scheduler %s', (scheduler) => {
    expect(methodOfScheduler(scheduler)).toBe('least-connections');
  });

  it('names session affinity where it excludes least connections', () => {
    const balancing = { method: 'least-connections', isWeighted: false } as const;
    expect(balancingNote({ balancing, affinitySeconds: 10_800 }, 'nftables', BALANCING_METHODS)).toBe(
      'session affinity excludes least-connections; endpoints are chosen at random',
    );
    expect(balancingNote({ balancing, affinitySeconds: 0 }, 'nftables', BALANCING_METHODS)).toBeUndefined();
  });

  it('is said where there is no room for tables, with the reason', () => {
    const deniedBalancing = { reason: '9 slots are needed' };
    expect(balancingNote({ deniedBalancing }, 'nftables', BALANCING_METHODS)).toBe(
      "no tables for load balancing: 9 slots are needed; its Service's endpoints are chosen at random, with equal chances",
    );
  });

  it('is nothing where nothing is asked for, or only weights', () => {
    expect(balancingNote({}, 'nftables', BALANCING_METHODS)).toBeUndefined();
    expect(balancingNote({ scheduler: 'random' }, 'nftables', BALANCING_METHODS)).toBeUndefined();
    expect(
      balancingNote({ balancing: { method: 'random', isWeighted: true } }, 'iptables', []),
    ).toBeUndefined();
  });
});
