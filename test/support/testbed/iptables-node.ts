import type { IptablesVariant } from '../../../src/adapters/iptables/iptables-commands.js';
import { program } from '../../../src/adapters/iptables/choose-variant.js';
import { parseSave } from '../iptables/parse-save.js';
import type { SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Host } from './host.js';

/** Both variants of iptables; what holds for one must hold for the other. */
export const iptablesVariants: readonly IptablesVariant[] = ['nft', 'legacy'];

/** The chain by which a kubelet shows which variant its node uses. */
export const HINT_CHAIN = 'KUBE-IPTABLES-HINT';

const asKubeletLeavesIt = `*mangle\n:${HINT_CHAIN} - [0:0]\nCOMMIT\n*nat\nCOMMIT\n*filter\nCOMMIT\n`;

/** More than a test sends through one rule. */
const MARK = 1000;

export interface ChainSinceMark {
  readonly rules: readonly string[];
  /** Those of its rules that were written since. */
  readonly written: readonly string[];
}

/** The iptables of one variant on a host of the test bed. */
export class NodeIptables {
  constructor(
    private readonly host: Host,
    readonly variant: IptablesVariant,
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

  /** The rules of each chain, by its table and name, and which of them were written since `mark`. */
  async chains(family: IpFamily): Promise<Map<string, ChainSinceMark>> {
    const saved = await this.host.run([this.program(family, 'save'), '--counters']);
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

  private program(family: IpFamily, action?: 'save' | 'restore'): string {
    return program(`iptables-${this.variant}`, family, action);
  }
}
