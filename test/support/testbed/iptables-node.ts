import type { IptablesVariant } from '../../../src/adapters/iptables/iptables-commands.js';
import { program } from '../../../src/adapters/iptables/variants.js';
import { parseSave } from '../iptables/parse-save.js';
import type { SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Host } from './host.js';

/** Both variants of iptables; what holds for one must hold for the other. */
export const iptablesVariants: readonly IptablesVariant[] = ['nft', 'legacy'];

/** The chain by which a kubelet shows which variant its node uses. */
export const HINT_CHAIN = 'KUBE-IPTABLES-HINT';

const asKubeletLeavesIt = `*mangle\n:${HINT_CHAIN} - [0:0]\nCOMMIT\n*nat\nCOMMIT\n*filter\nCOMMIT\n`;

/** Where the tools of iptables-legacy lock each other out, if nobody tells them another place. */
const LOCK_FILE = '/run/xtables.lock';

/** More than a test sends through one rule. */
const MARK = 1000;

export interface ChainSinceMark {
  readonly rules: readonly string[];
  /** Those of its rules that were written since. */
  readonly written: readonly string[];
}

/** The iptables of one variant on a host of the test bed. */
export class NodeIptables {
  /** @param lockFile the lock of those whose writes are to be read as a whole */
  constructor(
    private readonly host: Host,
    readonly variant: IptablesVariant,
    private readonly lockFile = LOCK_FILE,
  ) {}

  /** Empties all tables but for the kubelet's hint, by which programs are to choose this variant. */
  async reset(): Promise<void> {
    for (const family of IP_FAMILIES)
      await this.host.run([this.program(family, 'restore'), '-w', '5'], asKubeletLeavesIt);
  }

  async run(family: IpFamily, ...parameters: readonly string[]): Promise<void> {
    await this.host.run([this.program(family), '-w', '5', ...parameters]);
  }

  /** All tables of a family, as the tool lists them. */
  async saved(family: IpFamily): Promise<SavedTables> {
    return parseSave(await this.host.run([this.program(family, 'save')]), family);
  }

  /**
   * Writes all rules as they are, but for their counters, which are then 1000 packets: a rule that is written again
   * begins at none.
   */
  async mark(family: IpFamily): Promise<void> {
    const saved = await this.host.run([this.program(family, 'save')]);
    const marked = saved.replace(/^-A /gm, `[${MARK}:${MARK}] -A `);
    await this.host.run([this.program(family, 'restore'), '-w', '5', '--counters'], `${marked}\n`);
  }

  /** The rules of each chain, by its table and name. */
  async rules(family: IpFamily): Promise<Map<string, readonly string[]>> {
    const chains = chainsOf(await this.host.run(this.saveWithCounters(family)));
    return new Map([...chains].map(([name, { rules }]) => [name, rules]));
  }

  /**
   * The rules of each chain, by its table and name, and which of them were written since `mark`. Waits for the lock of
   * iptables-legacy, which first replaces a table, with counters of none, and then adds the former counters.
   */
  async chains(family: IpFamily): Promise<Map<string, ChainSinceMark>> {
    const wait = this.variant === 'legacy' ? ['flock', this.lockFile] : [];
    return chainsOf(await this.host.run([...wait, ...this.saveWithCounters(family)]));
  }

  /** The names of the chains, with their tables, in which a rule was written since `mark`. */
  async written(family: IpFamily): Promise<string[]> {
    return [...(await this.chains(family))].flatMap(([name, { written }]) =>
      written.length > 0 ? name : [],
    );
  }

  private saveWithCounters(family: IpFamily): string[] {
    return [this.program(family, 'save'), '--counters'];
  }

  private program(family: IpFamily, action?: 'save' | 'restore'): string {
    return program(`iptables-${this.variant}`, family, action);
  }
}

function chainsOf(saved: string): Map<string, ChainSinceMark> {
  const chains = new Map<string, { rules: string[]; written: string[] }>();
  let table = '';
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1);
    const declared = /^:(\S+)/.exec(line)?.[1];
    if (declared !== undefined) chains.set(`${table} ${declared}`, { rules: [], written: [] });
    const [, packets, name, rule] = /^\[(\d+):\d+\] -A (\S+) ?(.*)$/.exec(line) ?? [];
    const chain = chains.get(`${table} ${name}`);
    if (!chain) continue;
    chain.rules.push(rule!);
    if (Number(packets) < MARK) chain.written.push(rule!);
  }
  return chains;
}
