import { getOrMake } from '../../../domain/model/maps.js';
import type { Chain } from '../walk/chain-walk.js';
import type { TablesPacketState } from './tables-packet-state.js';
import type { RuleSource, WalkedChain, WalkedRule } from './rule.js';
/** Shorter chains are walked through as they are. */
const LONG = 32;

/** Rules of a chain with their places in it. */
type Placed = readonly (readonly [place: number, rule: WalkedRule])[];

const NONE: Placed = [];

/**
 * Tables of which a packet meets only rules that may concern it, whatever their number: in long chains those for another destination
 * or destination port are passed over.
 */
export class NarrowedRules implements RuleSource {
  private readonly chains = new Map<WalkedChain, WalkedChain>();

  constructor(private readonly rules: RuleSource) {}

  chain(table: string, name: string): WalkedChain | undefined {
    const chain = this.rules.chain(table, name);
    if (!chain || chain.rules.length < LONG) return chain;
    return getOrMake(this.chains, chain, () => narrowable(chain));
  }
}

const ADDRESS = /(?:^| )(! )?-d (\S+)\/(?:32|128)(?: |$)/;
const PORT = /(?:^| )(! )?--dport (\d+)(?: |$)/;
const QUOTED = /"[^"]*"/g;

function narrowable(chain: WalkedChain): WalkedChain {
  const groups = new Map<string, (readonly [number, WalkedRule])[]>();
  chain.rules.forEach((rule, place) => getOrMake(groups, keyOf(rule), () => []).push([place, rule]));
  const of = (key: string): Placed => groups.get(key) ?? NONE;
  return {
    ...chain,
    narrowed: ({ destination, port }: TablesPacketState): Chain<WalkedRule> => {
      const found = [...of(''), ...of(destination), ...of(`:${port}`)];
      return { rules: found.sort(([one], [other]) => one - other).map(([, rule]) => rule) };
    },
  };
}

/** The one address that a rule is for, else its one port, else nothing. */
function keyOf({ text: whole }: WalkedRule): string {
  const text = whole.replaceAll(QUOTED, '""');
  const [, notAddress, address] = ADDRESS.exec(text) ?? [];
  if (address !== undefined && notAddress === undefined) return address;
  const [, notPort, port] = PORT.exec(text) ?? [];
  return port !== undefined && notPort === undefined ? `:${port}` : '';
}
