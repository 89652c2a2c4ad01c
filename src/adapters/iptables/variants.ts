/** The two variants of iptables, nft and legacy: which one the node uses, and whether the other one has rules. */

import { readFileSync } from 'node:fs';
import { errorMessage } from '../../application/error-message.js';
import type { Clock } from '../../application/ports/clock.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { familyNumber, NETLINK_NETFILTER } from '../netlink/protocol.js';
import * as nf from '../nftables/netlink/nf-tables.js';
import { recordOf, RULE_PLACE } from '../nftables/netlink/records.js';
import { isWithoutNfTables } from '../nftables/netlink/table-listing.js';
import { ToolMissingError } from '../tool-programs.js';
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

/** Starts programs, and determines facts without one. */
export interface ProgramRunner {
  /**
   * Its output; undefined when there is no such program, or it failed. Rejects when a retry may succeed.
   * @param isThere a check that it can run: rejects whenever it fails otherwise
   */
  output(program: string, parameters: readonly string[], isThere?: boolean): Promise<string | undefined>;
  /** Its error message; undefined when it succeeds, or there is no such program. */
  complaint(program: string, parameters: readonly string[], input: string): Promise<string | undefined>;
  /** The tables of ip_tables that are there; undefined when that is unknown. */
  legacyTables(family: IpFamily): readonly string[] | undefined;
}

/** Where the programs come from, for people. */
export const PACKAGE = 'iptables (1.8 or later)';

/** Chains that the node's own components make, so that rules beside them are the rules that count (docs/internals/spec/iptables.md §14). */
const HINTS = ['KUBE-IPTABLES-HINT', 'KUBE-KUBELET-CANARY', 'KUBE-PROXY-CANARY'];
const TRIAL = '*nat\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n';
const PREFIXES = { nft: 'iptables-nft', legacy: 'iptables-legacy' } as const;

/**
 * Finds out which variant the node uses: the one whose table mangle has the kubelet's hint chains, as the wrappers in
 * container images do; without any hint, the one with more rules; nft, if none has and the kernel lets it write. Undefined
 * when the host has no iptables at all.
 */
export async function chooseVariant(
  runner: ProgramRunner,
  forced?: IptablesVariant,
): Promise<IptablesChoice | undefined> {
  const candidates = forced ? [forced] : (['nft', 'legacy'] as const);
  const versions = await Promise.all(
    candidates.map(async (variant) => ({ variant, version: await versionOf(runner, PREFIXES[variant]) })),
  );
  const present = versions.flatMap(({ variant, version }) =>
    version ? [{ variant, version: version.number }] : [],
  );
  const [only, other] = present;
  if (!only) return plain(runner, forced);
  const found = ({ variant, version }: typeof only, reason: string): IptablesChoice => ({
    variant,
    prefix: PREFIXES[variant],
    version,
    reason,
  });
  if (forced) return found(only, 'configured');
  if (!other) return found(only, 'the only one installed');
  for (const candidate of present) {
    const hint = await hintOf(runner, candidate.variant);
    if (hint !== undefined) return found(candidate, `chain ${hint} exists`);
  }
  const [nft, legacy] = await Promise.all([countRules(runner, 'nft'), countRules(runner, 'legacy')]);
  if (legacy > nft) return found(other, `it has more rules (${legacy} versus ${nft})`);
  const problem = await problemOfNft(runner);
  if (problem !== undefined) return found(other, `iptables-nft cannot write to table nat: ${problem}`);
  return found(only, 'no sign of either');
}

/**
 * Has iptables-nft write a rule into a network namespace that ends with it: there are kernels with nf_tables that lack
 * address translation, which shows only then. Undefined also where it cannot be tried.
 */
async function problemOfNft(runner: ProgramRunner): Promise<string | undefined> {
  const restore = program(PREFIXES.nft, 'IPv4', 'restore');
  const attempt = () => runner.complaint('unshare', ['--net', restore, '--noflush'], TRIAL);
  // Failures for other reasons rarely repeat.
  const complaint = (await attempt()) && (await attempt());
  if (!complaint || complaint.startsWith('unshare:')) return undefined;
  return complaint.trim().split('\n').at(-1);
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
  const text = await runner.output(prefix, ['--version'], true);
  const number = /v(\d+(?:\.\d+)+)/.exec(text ?? '')?.[1];
  return text === undefined || number === undefined ? undefined : { number, text };
}

async function hintOf(runner: ProgramRunner, variant: IptablesVariant): Promise<string | undefined> {
  const find = variant === 'nft' ? hintInNft : hintInLegacy;
  return (await find(runner, 'IPv4')) ?? (await find(runner, 'IPv6'));
}

/** Lists each chain: for anything else iptables-nft reads all rules of all tables. */
async function hintInNft(runner: ProgramRunner, family: IpFamily): Promise<string | undefined> {
  for (const hint of HINTS) {
    const listed = await runner.output(program(PREFIXES.nft, family), ['-t', 'mangle', '-S', hint]);
    if (listed !== undefined) return hint;
  }
  return undefined;
}

/** Asks only for a table that is there: naming it would create it. */
async function hintInLegacy(runner: ProgramRunner, family: IpFamily): Promise<string | undefined> {
  const tables = runner.legacyTables(family);
  if (tables && !tables.includes('mangle')) return undefined;
  const saved = await savedBy(runner, 'legacy', family, tables ? ['-t', 'mangle'] : [], !!tables);
  const mangle = /^\*mangle$[^]*?^COMMIT$/m.exec(saved ?? '')?.[0] ?? '';
  return HINTS.find((hint) => mangle.includes(`\n:${hint} `));
}

async function countRules(runner: ProgramRunner, variant: IptablesVariant): Promise<number> {
  const isThere = (family: IpFamily) => variant === 'legacy' && !!runner.legacyTables(family)?.length;
  const saved = await Promise.all(
    IP_FAMILIES.map((family) => savedBy(runner, variant, family, [], isThere(family))),
  );
  return saved.reduce((sum, text) => sum + (text?.match(/^-A /gm)?.length ?? 0), 0);
}

/**
 * The content of tables. If they exist, undefined means that the family has no tools: if only this one is missing, as while its
 * package is replaced, its output is unknown, and must not decide permanently.
 */
async function savedBy(
  runner: ProgramRunner,
  variant: IptablesVariant,
  family: IpFamily,
  parameters: readonly string[],
  isThere: boolean,
): Promise<string | undefined> {
  const save = program(PREFIXES[variant], family, 'save');
  const saved = await runner.output(save, parameters, isThere);
  const isUnknown = isThere && saved === undefined;
  if (isUnknown && (await versionOf(runner, program(PREFIXES[variant], family))))
    throw new ToolMissingError(save, PACKAGE);
  return saved;
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

/** Lists the rules of both variants. */
interface VariantSigns extends Pick<ProgramRunner, 'output' | 'legacyTables'> {
  /** The names of the tables of nf_tables that have rules. */
  nftTables(family: IpFamily): Promise<readonly string[]>;
}

/** Those that iptables-nft makes; other programs of nf_tables have names of their own. */
const TABLES = ['raw', 'mangle', 'nat', 'filter', 'security'];

/**
 * Which rules there are of the variant that is not used here, for people: packets meet them as well, while the programs of one
 * variant do not see what those of the other one wrote.
 */
export async function rulesOfOtherVariant(
  used: IptablesVariant,
  signs: VariantSigns,
): Promise<readonly string[]> {
  const other = used === 'nft' ? 'legacy' : 'nft';
  const places: string[] = [];
  for (const family of IP_FAMILIES) {
    try {
      const found = await (used === 'nft' ? legacyRules(family, signs) : nftRules(family, signs));
      if (found !== undefined) places.push(`${family}: ${found}`);
    } catch (error) {
      places.push(`${family}: unknown, since ${errorMessage(error)}`);
    }
  }
  if (places.length === 0) return [];
  return [
    `this proxy writes with iptables-${used}, and there are rules of iptables-${other} (${places.join('; ')}): packets pass both, ` +
      `but neither shows the rules of the other; use the same variant in all programs of this node`,
  ];
}

async function legacyRules(family: IpFamily, signs: VariantSigns): Promise<string | undefined> {
  const present = signs.legacyTables(family);
  if (present?.length === 0) return undefined;
  const save = program('iptables-legacy', family, 'save');
  const saved = await signs.output(save, []);
  if (saved === undefined)
    return present && `tables ${present.join(', ')}, perhaps empty: ${save} cannot be run here to check`;
  const tables = saved.split(/^\*/m).filter((table) => /^-A /m.test(table));
  return inTables(tables.map((table) => table.split('\n', 1)[0]!));
}

async function nftRules(family: IpFamily, signs: VariantSigns): Promise<string | undefined> {
  const tables = await signs.nftTables(family);
  return inTables(TABLES.filter((name) => tables.includes(name)));
}

function inTables(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `in ${names.join(', ')}`;
}

/**
 * The names of the tables of a family that have rules, of all programs, including iptables-nft. None if the kernel has no
 * nf_tables.
 * @throws NetlinkError if the kernel cannot be reached
 */
export async function nftTablesWithRules(family: IpFamily): Promise<readonly string[]> {
  const names = new Set<string>();
  const attempt = `GETRULE for ${family} of nf_tables`;
  const put = (writer: MessageWriter): void => writer.putWord(familyNumber(family));
  try {
    await NetlinkChannel.during(
      () => NetlinkSocket.open(NETLINK_NETFILTER),
      (channel) =>
        channel.list({ type: nf.GETRULE, attempt, put }, (message) => {
          const { table } = recordOf(RULE_PLACE, message);
          if (table !== undefined) names.add(table);
          return undefined;
        }),
    );
  } catch (error) {
    if (!isWithoutNfTables(error)) throw error;
  }
  return [...names];
}

/**
 * The tables of ip_tables that were used since the network namespace of this process is there, so that to read them makes
 * none; undefined when that is unknown.
 */
export function legacyTables(family: IpFamily, folder = '/proc/net'): readonly string[] | undefined {
  try {
    const names = readFileSync(`${folder}/${family === 'IPv4' ? 'ip' : 'ip6'}_tables_names`, 'utf8');
    return names.split('\n').filter((name) => name !== '');
  } catch (error) {
    // A kernel without ip_tables has no such file.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
  }
}

/** An open page requests it every few seconds; rules of another variant come once in the life of a node. */
const PERIOD_MILLISECONDS = 10_000;

/** Whether the node uses both variants of iptables, for `status`. It checks only on request. */
export class VariantMix {
  /** The last result, for people. */
  current: readonly string[] = [];
  private lookedAt: number | undefined;

  /** @param find does not reject */
  constructor(
    private readonly find: () => Promise<readonly string[]>,
    private readonly clock: Pick<Clock, 'steady'>,
  ) {}

  /** Looks again, unless it has just done so. */
  async renew(): Promise<void> {
    const now = this.clock.steady();
    if (this.lookedAt !== undefined && now < this.lookedAt + PERIOD_MILLISECONDS) return;
    this.lookedAt = now;
    this.current = await this.find();
  }
}
