import type { IpFamily } from '../../domain/net/ip-family.js';
import type { IptablesVariant } from './iptables-commands.js';

/** The tools of one variant on this host. */
export interface IptablesChoice {
  readonly variant: IptablesVariant;
  /** How the names of its programs go: `iptables-nft`, or plain `iptables`. `ip6` for `ip` gives those of IPv6. */
  readonly prefix: 'iptables-nft' | 'iptables-legacy' | 'iptables';
  /** `1.8.9` */
  readonly version: string;
  /** Why it was chosen, for people. */
  readonly reason: string;
}

/** Starts programs; undefined when there is no such program. */
export interface ProgramRunner {
  output(program: string, parameters: readonly string[]): Promise<string | undefined>;
}

/** Chains that the node's own components make, so that rules beside them are the rules that count (spec/iptables.md §14). */
const HINT = /^:(KUBE-IPTABLES-HINT|KUBE-KUBELET-CANARY|KUBE-PROXY-CANARY) /m;
const PREFIXES = { nft: 'iptables-nft', legacy: 'iptables-legacy' } as const;

/**
 * Finds out which variant the node uses: the one whose table mangle has the kubelet's hint chains, as the wrappers in
 * container images do; without any hint, the one with more rules; nft, if none has. Undefined when the host has no
 * iptables at all.
 */
export async function chooseVariant(
  runner: ProgramRunner,
  forced?: IptablesVariant,
): Promise<IptablesChoice | undefined> {
  const candidates = forced ? [forced] : (['nft', 'legacy'] as const);
  const present: { variant: IptablesVariant; version: string }[] = [];
  for (const variant of candidates) {
    const version = await versionOf(runner, PREFIXES[variant]);
    if (version) present.push({ variant, version: version.number });
  }
  const [only, other] = present;
  if (!only) return plain(runner, forced);
  const found = ({ variant, version }: typeof only, reason: string): IptablesChoice => ({
    variant,
    prefix: PREFIXES[variant],
    version,
    reason,
  });
  if (forced) return found(only, 'asked for');
  if (!other) return found(only, 'the only one installed');
  for (const candidate of present) {
    const hint = await hintOf(runner, candidate.variant);
    if (hint !== undefined) return found(candidate, `chain ${hint} is there`);
  }
  const [nft, legacy] = await Promise.all([countRules(runner, 'nft'), countRules(runner, 'legacy')]);
  if (legacy > nft) return found(other, `it has more rules (${legacy}, against ${nft})`);
  return found(only, 'no hint of either');
}

/** Distributions that have one variant alone call it plain iptables. */
async function plain(runner: ProgramRunner, forced?: IptablesVariant): Promise<IptablesChoice | undefined> {
  const version = await versionOf(runner, 'iptables');
  if (!version) return undefined;
  const variant = version.text.includes('nf_tables') ? 'nft' : 'legacy';
  if (forced && forced !== variant) return undefined;
  return { variant, prefix: 'iptables', version: version.number, reason: 'the only one installed' };
}

async function versionOf(
  runner: ProgramRunner,
  prefix: string,
): Promise<{ number: string; text: string } | undefined> {
  const text = await runner.output(prefix, ['--version']);
  const number = /v(\d+(?:\.\d+)+)/.exec(text ?? '')?.[1];
  return text === undefined || number === undefined ? undefined : { number, text };
}

async function hintOf(runner: ProgramRunner, variant: IptablesVariant): Promise<string | undefined> {
  for (const family of ['IPv4', 'IPv6'] as const) {
    // Naming the table would create it, in legacy.
    const table = variant === 'nft' ? ['-t', 'mangle'] : [];
    const saved = await runner.output(program(PREFIXES[variant], family, 'save'), table);
    const mangle = /^\*mangle$[^]*?^COMMIT$/m.exec(saved ?? '')?.[0];
    const hint = HINT.exec(mangle ?? '')?.[1];
    if (hint !== undefined) return hint;
  }
  return undefined;
}

async function countRules(runner: ProgramRunner, variant: IptablesVariant): Promise<number> {
  const saved = await runner.output(`${PREFIXES[variant]}-save`, []);
  return saved?.match(/^-A /gm)?.length ?? 0;
}

/** The name of a program: `ip6tables-nft-restore`. */
export function program(
  prefix: IptablesChoice['prefix'],
  family: IpFamily,
  action?: 'save' | 'restore',
): string {
  const name = family === 'IPv4' ? prefix : prefix.replace('iptables', 'ip6tables');
  return action ? `${name}-${action}` : name;
}
