import type { BenchHost } from './host.js';

/** The modes to measure: a proxy mode, and for iptables the variant of the tools. */
export const BENCH_MODES = ['nftables', 'iptables-nft', 'iptables-legacy', 'ipvs'] as const;
export type BenchMode = (typeof BENCH_MODES)[number];

/** Its proxy mode. */
export function proxyMode(mode: BenchMode): 'nftables' | 'iptables' | 'ipvs' {
  return mode === 'nftables' || mode === 'ipvs' ? mode : 'iptables';
}

/** The numbers of services that are measured by default. */
export function defaultSizes(mode: BenchMode): readonly number[] {
  if (mode === 'ipvs') return [1000, 5000];
  return mode === 'nftables' ? [1000, 10_000, 30_000, 100_000] : [1000, 5000, 10_000];
}

/** The modes that `--mode` selects. */
export function modesOf(text: string): readonly BenchMode[] {
  if (text === 'all') return BENCH_MODES;
  const mode = BENCH_MODES.find((each) => each === text);
  if (!mode) throw new Error(`--mode takes ${BENCH_MODES.join(', ')} or all, not "${text}"`);
  return [mode];
}

/** Prepares a fresh host for that mode. The kubelet's hint chain shows the proxy which variant of iptables the node uses. */
export async function prepare(host: BenchHost, mode: BenchMode): Promise<void> {
  host.create();
  if (mode === 'nftables') return;
  const iptables = mode === 'ipvs' ? 'iptables-legacy' : mode;
  await host.run(iptables, '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT');
}
