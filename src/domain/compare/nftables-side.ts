import { getOrMake } from '../model/get-or-make.js';
import { hex } from '../nftables/kernel/bytes.js';
import { findRange, sorted } from '../nftables/kernel/elements.js';
import type { KernelElement, KernelRuleset, KernelSet, KernelTable } from '../nftables/kernel/ruleset.js';
import { RulesetWalk } from '../nftables/kernel/ruleset-walk.js';
import { SourceWatch } from '../nftables/kernel/source-watch.js';
import { RulesetDestinations } from './ruleset-destinations.js';
import type { Side } from './side.js';

/** All elements of a set. */
export type ElementsOf = (table: KernelTable, set: KernelSet) => readonly KernelElement[];

/** All tables of nf_tables that packets of one family meet. What packets put into sets is taken as not there. */
export function nftablesSide(ruleset: KernelRuleset, elementsOf: ElementsOf): Side {
  const dynamic = new Set(ruleset.tables.flatMap(dynamicSets));
  const lists = new Map<KernelSet, readonly KernelElement[]>();
  const tableOf = new Map(
    ruleset.tables.flatMap((table) => [...table.sets.values()].map((set) => [set, table])),
  );
  const elements = (set: KernelSet): readonly KernelElement[] =>
    dynamic.has(set)
      ? []
      : getOrMake(lists, set, () => {
          const all = elementsOf(tableOf.get(set)!, set);
          return set.ranges === undefined ? all : sorted(all);
        });
  const indexes = new Map<KernelSet, ReadonlyMap<string, KernelElement>>();
  const find = (set: KernelSet, key: Uint8Array): KernelElement | undefined =>
    set.ranges === undefined
      ? getOrMake(indexes, set, () => byKey(elements(set))).get(hex(key))
      : findRange(elements(set), set.ranges, key);
  const destinations = new RulesetDestinations(ruleset, elements);
  return {
    mode: 'nftables',
    serviceAddresses: new Set(),
    doubts: destinations.doubts,
    destinations: () => destinations.all(),
    walk(packet, { localAddresses, remembered }, watch) {
      const watching = {
        source: new SourceWatch(packet.family, watch, elements),
        isDynamic: (set: KernelSet) => dynamic.has(set),
        affinity: (seconds: number) => watch.affinity(seconds),
        wantsSteps: watch.wantsSteps,
      };
      return new RulesetWalk(
        ruleset,
        packet,
        localAddresses,
        (_, set, key) => (remembered?.get(set.name)?.has(hex(key)) ? { key } : find(set, key)),
        () => undefined,
        watching,
      ).endings();
    },
  };
}

function dynamicSets({ chains, sets }: KernelTable): readonly KernelSet[] {
  return [...chains.values()].flatMap(({ rules }) =>
    rules.flatMap(({ expressions }) =>
      expressions.flatMap((expression) =>
        expression.kind === 'remember' ? (sets.get(expression.set) ?? []) : [],
      ),
    ),
  );
}

function byKey(elements: readonly KernelElement[]): ReadonlyMap<string, KernelElement> {
  return new Map(elements.flatMap((element) => (element.key ? [[hex(element.key), element]] : [])));
}
