import { canonicalRule } from '../../../domain/iptables/text/canonical-rule.js';
import { CANARY } from '../../../domain/iptables/chain-names.js';
import type { BaseRules } from '../../../domain/iptables/table.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { IptablesCommands } from '../iptables-commands.js';

/** Where nothing cheaper tells whether the tables were touched: whether the canaries and the jumps stand. */
export async function seemsSound(
  frame: BaseRules,
  family: IpFamily,
  commands: Pick<IptablesCommands, 'listChain'>,
): Promise<boolean> {
  for (const { table, name } of frame.chains.filter((chain) => chain.name === CANARY))
    if (!(await commands.listChain(family, table, name))) return false;
  const present = new Map<string, readonly string[]>();
  for (const { table, chain, rule } of frame.jumps) {
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
