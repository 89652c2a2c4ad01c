import type { SavedChain, SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { VARIANTS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
import { ruleText } from '../../../src/domain/nftables/kernel/rule-text.js';
import type { KernelRule } from '../../../src/domain/nftables/kernel/ruleset.js';
import type { SetElement } from '../../../src/domain/nftables/layout/table.js';
import type { SetContents, TableContents } from '../../support/nftables/table-contents.js';

/**
 * Rules of service ports in any order, without proxy ports, which are the kernel's choice; without KUBE-FIREWALL, which
 * is the kubelet's too and stays; and without empty built-in chains, which tools make when they please.
 */
export function iptablesSnapshot(saved: SavedTables): unknown {
  return saved
    .flatMap(({ name: table, chains }) =>
      chains
        .filter(({ name }) => name !== 'KUBE-FIREWALL')
        .map((chain) => ({ ...chain, rules: rulesOf(chain) }))
        .filter(({ policy, rules }) => policy === undefined || rules.length > 0)
        .map(({ name, rules }) => [`${table} ${name}`, rules] as const),
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function rulesOf({ name, rules }: SavedChain): readonly string[] {
  const shown = rules
    .filter((rule) => !rule.endsWith('-j KUBE-FIREWALL'))
    .map((rule) =>
      rule
        .replace(/(DNAT --to-destination (?:127\.0\.0\.1|\[::1\])):\d+$/, '$1')
        .replace(/--dport \d+( -m state --state NEW -j ACCEPT)$/, '$1'),
    );
  return /^KUBE-(?!(?:SVC|SVL|SEP|FW|EXT)-[A-Z0-9]{16}$)/.test(name) ? shown.sort() : shown;
}

/** A table, in memory or in a kernel, as far as it is compared. */
interface ComparedTable extends Pick<TableContents, 'chains'> {
  readonly sets: ReadonlyMap<string, Pick<SetContents, 'elements'>>;
}

/** Without unused structures, which stay until the next verification: classes, their chains, sets of sources. */
export function nftablesSnapshot(family: IpFamily, table: ComparedTable): unknown {
  const inUse = new InUse(table);
  return {
    chains: [...inUse.chains()]
      .map((name) => [name, inUse.rules(name).map((rule) => ruleText(rule, family))] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
    sets: [...table.sets.keys()]
      .filter((name) => !name.startsWith('sources-') || inUse.elements(name).length > 0)
      .map((name) => [
        name,
        inUse
          .elements(name)
          .map((element) => JSON.stringify(element))
          .sort(),
      ])
      .sort(),
  };
}

/** What packets can reach in a table. */
class InUse {
  /** By the map of classes: the classes that frontends have. */
  private readonly classes = new Map<string, ReadonlySet<string | undefined>>();

  constructor(private readonly table: ComparedTable) {
    for (const variant of VARIANTS) {
      const { frontends, classes, shortCircuits, shortCircuitClasses } = setsOf(variant);
      this.classes.set(classes.name, new Set(this.elements(frontends.name).map(({ value }) => value)));
      const short = new Set(this.elements(shortCircuits.name).map(({ value }) => value));
      this.classes.set(shortCircuitClasses.name, short);
    }
  }

  elements(set: string): readonly SetElement[] {
    const all = [...this.table.sets.get(set)!.elements.values()];
    const classes = this.classes.get(set);
    return classes ? all.filter(({ key }) => classes.has(key)) : all;
  }

  rules(chain: string): readonly KernelRule[] {
    const asksNothing = ({ expressions }: KernelRule) =>
      expressions.some(
        (expression) =>
          expression.kind === 'lookup' &&
          expression.set.startsWith('sources-') &&
          this.elements(expression.set).length === 0,
      );
    return this.table.chains.get(chain)!.rules.filter((rule) => !asksNothing(rule));
  }

  /** Base chains, and what they lead to. */
  chains(): ReadonlySet<string> {
    const base = [...this.table.chains.values()].filter(({ chain }) => chain.hook);
    const reached = new Set(base.map(({ chain }) => chain.name));
    for (const name of reached) for (const target of this.targets(name)) reached.add(target);
    return reached;
  }

  private targets(chain: string): readonly string[] {
    return this.rules(chain).flatMap(({ expressions }) =>
      expressions.flatMap((expression) => {
        if (expression.kind === 'verdict') return expression.verdict.chain ?? [];
        if (expression.kind !== 'lookup' || expression.to !== 'verdict') return [];
        return this.elements(expression.set).map(({ value }) => value!.replace('goto ', ''));
      }),
    );
  }
}
