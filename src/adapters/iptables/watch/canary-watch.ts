import { CANARY } from '../../../domain/iptables/chain-names.js';
import type { BaseRules } from '../../../domain/iptables/table.js';
import { canonicalRule } from '../../../domain/iptables/text/canonical-rule.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { IptablesCommands } from '../iptables-commands.js';
import type { IptablesWatch, RestoreEffect } from './iptables-watch.js';

/**
 * Asks a better watch. Where that cannot answer, looks whether the canaries and the jumps are there: they are gone when
 * another program flushed the tables.
 */
export class CanaryWatch implements IptablesWatch {
  private answer: number | undefined;
  private count = 0;

  /**
   * @param better undefined on hosts that have no other sign
   * @param baseRules the canaries and the jumps; undefined before the first start
   */
  constructor(
    private readonly better: IptablesWatch | undefined,
    private readonly family: IpFamily,
    private readonly commands: Pick<IptablesCommands, 'listChain'>,
    private readonly baseRules: () => BaseRules | undefined,
  ) {}

  get seesEveryWrite(): boolean {
    return this.answer !== undefined && this.better!.seesEveryWrite;
  }

  ours<T>(write: () => Promise<T>, effect: (outcome: T) => RestoreEffect): Promise<T> {
    return this.better ? this.better.ours(write, effect) : write();
  }

  async epoch(): Promise<number> {
    const answer = await this.better?.epoch();
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
