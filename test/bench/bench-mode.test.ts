import { BENCH_MODES, defaultSizes, modesOf, proxyMode } from '../../bench/bench-mode.js';

describe('the modes that are measured', () => {
  it('are one, or all', () => {
    expect(modesOf('iptables-legacy')).toEqual(['iptables-legacy']);
    expect(modesOf('all')).toEqual(BENCH_MODES);
    expect(() => modesOf('iptables')).toThrow(
      '--mode takes nftables, iptables-nft, iptables-legacy, ipvs or all',
    );
  });

  it('run the proxy in the mode behind them', () => {
    expect(BENCH_MODES.map(proxyMode)).toEqual(['nftables', 'iptables', 'iptables', 'ipvs']);
  });

  it('go to 100,000 services in nftables, to 10,000 in iptables, and to 5,000 in ipvs', () => {
    expect(BENCH_MODES.map((mode) => defaultSizes(mode).at(-1))).toEqual([100_000, 10_000, 10_000, 5000]);
  });
});
