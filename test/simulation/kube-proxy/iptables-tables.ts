import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Machine } from '../kernel/machine.js';
import type { ProgramResult } from '../kernel/programs/programs.js';
import { MARK } from './kube-proxy-mode.js';

/** Chains that the jumps lead to and that stay: the kubelet makes it, too. */
const OF_KUBELET = 'KUBE-FIREWALL';
const CANARY = 'KUBE-PROXY-CANARY';
const CANARY_TABLES = ['mangle', 'nat', 'filter'];

/** Chains of the ports, by which stale ones are known. */
export const OF_PORTS = /^KUBE-(SVC|SVL|EXT|FW|SEP)-/;

/** A line that makes or empties a chain. */
export const declared = (chain: string): string => `:${chain} - [0:0]`;

/** The rules that masquerade what is marked. */
export const MASQUERADING: readonly string[] = [
  `-A KUBE-POSTROUTING -m mark ! --mark ${MARK}/${MARK} -j RETURN`,
  `-A KUBE-POSTROUTING -j MARK --xor-mark ${MARK}`,
  '-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
  `-A KUBE-MARK-MASQ -j MARK --or-mark ${MARK}`,
];

/** The tables of one family, which kube-proxy reaches through the tools alone. */
export class IptablesTables {
  private readonly base: string;

  constructor(
    private readonly machine: Machine,
    family: IpFamily,
  ) {
    this.base = `${family === 'IPv6' ? 'ip6tables' : 'iptables'}-${machine.iptables}`;
  }

  /** Makes the chains and the jumps to them that are missing: at the top. */
  ensureJumps(jumps: readonly Jump[]): void {
    for (const [table, from, to, ...match] of jumps) {
      this.run('', ['-w', '5', '-N', to, '-t', table]);
      const rule = [...match, '-j', to];
      if (this.run('', ['-w', '5', '-C', from, '-t', table, ...rule]).exitCode !== 0)
        this.run('', ['-w', '5', '-I', from, '-t', table, ...rule]);
    }
  }

  ensureCanaries(): void {
    for (const table of CANARY_TABLES) this.run('', ['-w', '5', '-N', CANARY, '-t', table]);
  }

  /** Whether another program has emptied the tables. */
  get isFlushed(): boolean {
    return this.run('', ['-w', '5', '-S', CANARY, '-t', 'mangle']).exitCode !== 0;
  }

  /** @throws Error with what the tool said: the rules are wrong, or what it is written for */
  restore(input: string): void {
    const { exitCode, stderr } = this.run('-restore', ['-w', '5', '--noflush', '--counters'], input);
    if (exitCode !== 0) throw new Error(`kube-proxy cannot restore: ${stderr}\n${input}`);
  }

  /** The names of a table's chains. */
  chains(table: string): readonly string[] {
    const { stdout } = this.run('-save', ['-t', table]);
    return [...stdout.matchAll(/^:(\S+) /gm)].map(([, name]) => name!);
  }

  /** Removes what mode iptables has there (docs/internals/spec/iptables.md §18): all chains of a table, or none. */
  removeAtOnce(jumps: readonly Jump[], others: readonly string[]): void {
    this.removeJumps(jumps);
    const own = new Set([...jumps.map(([, , to]) => to), ...others, CANARY]);
    own.delete(OF_KUBELET);
    for (const table of ['nat', 'filter']) {
      const there = this.chains(table).filter((chain) => own.has(chain) || OF_PORTS.test(chain));
      const lines = [
        `*${table}`,
        ...there.map(declared),
        ...there.map((chain) => `-X ${chain}`),
        'COMMIT',
        '',
      ];
      this.run('-restore', ['-w', '5', '-T', table, '--noflush', '--counters'], lines.join('\n'));
    }
    this.run('', ['-w', '5', '-X', CANARY, '-t', 'mangle']);
  }

  /** Removes what mode ipvs has there, chain by chain (docs/internals/spec/ipvs.md §9). */
  removeOneByOne(jumps: readonly Jump[], chains: readonly (readonly [table: string, chain: string])[]): void {
    this.removeJumps(jumps);
    for (const operation of ['-F', '-X'])
      for (const [table, chain] of chains) this.run('', ['-w', '5', operation, chain, '-t', table]);
  }

  private removeJumps(jumps: readonly Jump[]): void {
    for (const [table, from, to, ...match] of jumps)
      if (to !== OF_KUBELET) this.run('', ['-w', '5', '-D', from, '-t', table, ...match, '-j', to]);
  }

  private run(suffix: string, words: readonly string[], input = ''): ProgramResult {
    return this.machine.programs.run([`${this.base}${suffix}`, ...words], input);
  }
}

/** A jump from a built-in chain: its table, where from, where to, and what is asked of packets before. */
export type Jump = readonly [table: string, from: string, to: string, ...match: readonly string[]];

const NEW = ['-m', 'conntrack', '--ctstate', 'NEW'];
const comment = (text: string) => ['-m', 'comment', '--comment', text];
const externally = [...NEW, ...comment('kubernetes externally-visible service portals')];
const portals = comment('kubernetes service portals');
const firewall = [...NEW, ...comment('kubernetes load balancer firewall')];

/** Of mode iptables (docs/internals/spec/iptables.md §4). */
export const IPTABLES_JUMPS: readonly Jump[] = [
  ['filter', 'INPUT', 'KUBE-EXTERNAL-SERVICES', ...externally],
  ['filter', 'FORWARD', 'KUBE-EXTERNAL-SERVICES', ...externally],
  ['filter', 'INPUT', 'KUBE-NODEPORTS', ...comment('kubernetes health check service ports')],
  ['filter', 'FORWARD', 'KUBE-SERVICES', ...NEW, ...portals],
  ['filter', 'OUTPUT', 'KUBE-SERVICES', ...NEW, ...portals],
  ['filter', 'FORWARD', 'KUBE-FORWARD', ...comment('kubernetes forwarding rules')],
  ['filter', 'INPUT', 'KUBE-PROXY-FIREWALL', ...firewall],
  ['filter', 'OUTPUT', 'KUBE-PROXY-FIREWALL', ...firewall],
  ['filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', ...firewall],
  ['nat', 'OUTPUT', 'KUBE-SERVICES', ...portals],
  ['nat', 'PREROUTING', 'KUBE-SERVICES', ...portals],
  ['nat', 'POSTROUTING', 'KUBE-POSTROUTING', ...comment('kubernetes postrouting rules')],
  ['filter', 'INPUT', 'KUBE-FIREWALL'],
  ['filter', 'OUTPUT', 'KUBE-FIREWALL'],
];

/** Of mode ipvs (docs/internals/spec/ipvs.md §6.1). */
export const IPVS_JUMPS: readonly Jump[] = [
  ['nat', 'OUTPUT', 'KUBE-SERVICES', ...portals],
  ['nat', 'PREROUTING', 'KUBE-SERVICES', ...portals],
  ['nat', 'POSTROUTING', 'KUBE-POSTROUTING', ...comment('kubernetes postrouting rules')],
  ['filter', 'FORWARD', 'KUBE-FORWARD', ...comment('kubernetes forwarding rules')],
  ['filter', 'INPUT', 'KUBE-NODE-PORT', ...comment('kubernetes health check rules')],
  ['filter', 'INPUT', 'KUBE-PROXY-FIREWALL', ...comment('kube-proxy firewall rules')],
  ['filter', 'FORWARD', 'KUBE-PROXY-FIREWALL', ...comment('kube-proxy firewall rules')],
  ['filter', 'INPUT', 'KUBE-IPVS-FILTER', ...comment('kubernetes ipvs access filter')],
  ['filter', 'OUTPUT', 'KUBE-IPVS-OUT-FILTER', ...comment('kubernetes ipvs access filter')],
];
