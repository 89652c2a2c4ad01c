import { isServiceChain } from '../../domain/iptables/chain-names.js';
import { holds, sharedHolds, type DesiredTables } from '../../domain/iptables/desired-state.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { OWNED_TABLE, type Chain, type RuleText, type TableName } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import {
  differing,
  type RuleDifference,
  sequenceDifference,
} from '../../domain/reconcile/rule-difference.js';

const TABLES: readonly TableName[] = ['mangle', 'filter', OWNED_TABLE];

/** In the comment of a rule: the service port, perhaps followed by what of it. */
const COMMENTED = /--comment "?([^\s"/]+\/[^\s"]+)/;

interface HowToCompare {
  /** Whose a rule of the desired chain is; missing where they are the node's. */
  readonly owner?: (index: number) => ServicePortKey | undefined;
  /** Whether rules count by their places. */
  readonly ordered: boolean;
}

/**
 * The difference between the kernel's tables and the desired ones in the words of iptables: `-N` and `-A` say what a chain and a
 * rule are. What is not ours is left out. Chains of services are compared while this is iterated, each with a step of its own.
 * @param isOfService which chains of table nat go when no service port has them
 */
export function* ruleDifferences(
  desired: DesiredTables,
  saved: SavedTables,
  isOfService: (name: string) => boolean = isServiceChain,
): Generator<RuleDifference | undefined> {
  const present = new Map(
    saved.map(({ name, chains }) => [name, new Map(chains.map((chain) => [chain.name, chain.rules]))]),
  );
  const surplusChains = new Set([...(present.get(OWNED_TABLE)?.keys() ?? [])].filter(isOfService));
  const actual = ({ table, name }: Pick<Chain, 'table' | 'name'>): readonly RuleText[] | undefined =>
    present.get(table)?.get(name);
  const { baseRules } = desired;
  for (const chain of baseRules.unmanagedChains)
    if (!actual(chain)) yield differing('+', `-t ${chain.table} -N ${chain.name}`);
  for (const { table, chain, rule } of baseRules.jumps)
    if (!actual({ table, name: chain })?.includes(rule)) yield differing('+', lineOf(table, chain, rule));
  for (const chain of baseRules.chains) {
    const its = actual(chain);
    if (!its || !holds(chain, its)) yield* differingRules(chain, its, { ordered: true });
  }
  for (const chain of TABLES.flatMap((table) => desired.shared(table))) {
    const its = actual(chain);
    if (its && sharedHolds(chain, its)) continue;
    const entriesFrom = chain.before.length;
    yield* differingRules(chain, its, {
      owner: (index) => chain.entries[index - entriesFrom]?.owner,
      // Entries may stand in any order as long as those about the same packets do not change places.
      ordered: its !== undefined && !differsUnordered(its, chain.rules),
    });
  }
  for (const { chain, owner } of desired.owned()) {
    surplusChains.delete(chain.name);
    const its = actual(chain);
    if (!its || !holds(chain, its)) yield* differingRules(chain, its, { owner: () => owner, ordered: true });
    yield undefined;
  }
  for (const name of surplusChains) {
    for (const rule of actual({ table: OWNED_TABLE, name })!) yield surplus(lineOf(OWNED_TABLE, name, rule));
    yield differing('-', `-t ${OWNED_TABLE} -N ${name}`);
  }
}

function* differingRules(
  { table, name, rules }: Chain,
  actual: readonly RuleText[] | undefined,
  { owner = () => undefined, ordered }: HowToCompare,
): Generator<RuleDifference> {
  if (!actual) yield differing('+', `-t ${table} -N ${name}`, owner(0));
  const { surplus: gone, missing } = sequenceDifference(actual ?? [], rules, ordered);
  for (const index of gone) yield surplus(lineOf(table, name, actual![index]!));
  for (const index of missing) yield differing('+', lineOf(table, name, rules[index]!), owner(index));
}

function differsUnordered(actual: readonly RuleText[], wanted: readonly RuleText[]): boolean {
  const { surplus: gone, missing } = sequenceDifference(actual, wanted, false);
  return gone.length + missing.length > 0;
}

/** Only its comment tells whose it is. */
function surplus(line: string): RuleDifference {
  const servicePort = COMMENTED.exec(line)?.[1];
  return { sign: '-', text: line, ...(servicePort !== undefined && { servicePort }) };
}

function lineOf(table: TableName, chain: string, rule: RuleText): string {
  return `-t ${table} -A ${chain} ${rule}`;
}
