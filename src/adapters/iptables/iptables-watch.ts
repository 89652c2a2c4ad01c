/** Detects that another program changed the tables. */

import type { WriteWatch } from '../../application/ports/driver.js';
import { CANARY } from '../../domain/iptables/chain-names.js';
import { canonicalRule } from '../../domain/iptables/saved-tables.js';
import type { BaseRules, TableName } from '../../domain/iptables/table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { cLibraryIfAny, type CLibrary } from '../process/c-library.js';
import type { IptablesCommands } from './iptables-commands.js';

/** The evidence that a restore was our own. */
interface RestoreEffect {
  /** With iptables-nft, the generations of nf_tables that it made. */
  readonly generations?: readonly number[] | undefined;
  /** By how many entries the tables have grown. Undefined if unknown. */
  readonly entriesGained?: number | undefined;
  /** How long another program held the lock before we got it, in seconds. Undefined if unknown. */
  readonly lockWaitSeconds?: number | undefined;
}

/** Shows whether another program wrote to the tables of a family. */
export interface IptablesWatch extends WriteWatch {
  /** Runs a write of our own. `effect` is called if it succeeds. */
  ours<T>(write: () => Promise<T>, effect: (outcome: T) => RestoreEffect): Promise<T>;
}

/**
 * Gives the answers of a watch that sees each commit. While it has none, checks whether the canaries and the jumps exist:
 * they are gone when another program flushed the tables.
 */
export class CanaryWatch implements IptablesWatch {
  private answer: number | undefined;
  private count = 0;

  /**
   * @param commits undefined on hosts that have no other sign
   * @param baseRules the canaries and the jumps; undefined before the first start
   */
  constructor(
    private readonly commits: IptablesWatch | undefined,
    private readonly family: IpFamily,
    private readonly commands: Pick<IptablesCommands, 'listChain'>,
    private readonly baseRules: () => BaseRules | undefined,
  ) {}

  get seesEveryWrite(): boolean {
    return this.answer !== undefined && this.commits!.seesEveryWrite;
  }

  ours<T>(write: () => Promise<T>, effect: (outcome: T) => RestoreEffect): Promise<T> {
    return this.commits ? this.commits.ours(write, effect) : write();
  }

  async epoch(): Promise<number> {
    const answer = await this.commits?.epoch();
    if (answer !== this.answer || (answer === undefined && !(await this.areThere()))) this.count++;
    this.answer = answer;
    return this.count;
  }

  private async areThere(): Promise<boolean> {
    const { family, commands } = this;
    const { chains = [], jumps = [] } = this.baseRules() ?? {};
    for (const { table, name } of chains.filter((chain) => chain.name === CANARY))
      if (!(await commands.listChain(family, table, name))) return false;
    const present = new Map<string, readonly string[]>();
    for (const { table, chain, rule } of jumps) {
      const place = `${table} ${chain}`;
      let rules = present.get(place);
      if (!rules) {
        const listed = (await commands.listChain(family, table, chain)) ?? [];
        rules = listed.map((text) => canonicalRule(text, family));
        present.set(place, rules);
      }
      if (!rules.includes(rule)) return false;
    }
    return true;
  }
}

const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const IPPROTO_RAW = 255;

/** IPT_SO_GET_INFO and IP6T_SO_GET_INFO (linux/netfilter_ipv4/ip_tables.h, linux/netfilter_ipv6/ip6_tables.h). */
const GET_INFO = 64;
const PLACES = { IPv4: { domain: 2, level: 0 }, IPv6: { domain: 10, level: 41 } } as const;

/** struct ipt_getinfo: the table's name, valid hooks, and then what we compare: offsets, number of entries, size. */
const INFO_LENGTH = 84;
const NAME_LENGTH = 32;
const ENTRIES_OFFSET = 76;
const TABLES: readonly TableName[] = ['filter', 'nat', 'mangle'];

/** The kernel's report about all tables. */
interface TablesInfo {
  readonly text: string;
  readonly entries: number;
}

/**
 * For iptables-legacy: the kernel reports for each table how many entries it has, how many bytes, and where the built-in
 * chains begin, for the price of a system call. Only a change that keeps all of that goes unnoticed until everything is
 * compared. A restore of ours may wait for the lock while another program changes the tables. So the state after it counts
 * as ours only if the tables have grown as they should have or, where that is unknown, if no other program held the lock.
 */
export class LegacyWatch implements IptablesWatch {
  /** All but those that keep the sizes, which are rare. */
  readonly seesEveryWrite = true;
  private known: TablesInfo | undefined;
  private count = 0;

  constructor(
    private readonly family: IpFamily,
    private readonly calls: Pick<CLibrary, 'socket' | 'getsockopt' | 'close'> | undefined = cLibraryIfAny(),
  ) {}

  async ours<T>(write: () => Promise<T>, effect: (outcome: T) => RestoreEffect): Promise<T> {
    // Differences from the last check before our write are changes by other programs.
    this.compare();
    const before = this.known;
    const outcome = await write();
    const after = this.look();
    const { entriesGained, lockWaitSeconds } = effect(outcome);
    const isOurs =
      entriesGained === undefined
        ? lockWaitSeconds === 0
        : before !== undefined && after?.entries === before.entries + entriesGained;
    if (!isOurs) this.count++;
    this.known = after;
    return outcome;
  }

  epoch(): Promise<number | undefined> {
    return Promise.resolve(this.compare());
  }

  private compare(): number | undefined {
    const now = this.look();
    if (now?.text !== this.known?.text) this.count++;
    this.known = now;
    return now === undefined ? undefined : this.count;
  }

  private look(): TablesInfo | undefined {
    const { calls } = this;
    if (!calls) return undefined;
    const { domain, level } = PLACES[this.family];
    const fd = calls.socket(domain, SOCK_RAW_CLOEXEC, IPPROTO_RAW);
    if (fd < 0) return undefined;
    try {
      const infos = TABLES.map((table) => {
        const info = Buffer.alloc(INFO_LENGTH);
        info.write(table);
        const length = Buffer.alloc(4);
        length.writeUInt32LE(INFO_LENGTH);
        if (calls.getsockopt(fd, level, GET_INFO, info, length) < 0) return undefined;
        return { text: info.toString('latin1', NAME_LENGTH), entries: info.readUInt32LE(ENTRIES_OFFSET) };
      });
      return infos.reduce(
        (sum, info) => sum && info && { text: sum.text + info.text, entries: sum.entries + info.entries },
      );
    } finally {
      calls.close(fd);
    }
  }
}
