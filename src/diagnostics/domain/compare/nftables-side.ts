import { getOrMake } from '../../../domain/model/maps.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { hex } from '../../../domain/nftables/kernel/bytes.js';
import { BytesMap } from '../nftables/bytes-map.js';
import { findRange, sorted } from '../nftables/elements.js';
import type {
  KernelElement,
  KernelRuleset,
  KernelSet,
  KernelTable,
} from '../../../domain/nftables/kernel/ruleset.js';
import { RulesetWalk } from '../nftables/ruleset-walk.js';
import { SourceWatch } from '../nftables/watch/source-watch.js';
import { RulesetDestinations } from './ruleset-destinations.js';
import type { Side } from './side.js';

/** All elements of a set. */
export type ElementsOf = (table: KernelTable, set: KernelSet) => readonly KernelElement[];

/** All tables of nf_tables that packets of a family meet. What packets put into sets is taken as not there. */
export function nftablesSide(ruleset: KernelRuleset, family: IpFamily, elementsOf: ElementsOf): Side {
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
  const indexes = new Map<KernelSet, BytesMap<KernelElement>>();
  const find = (set: KernelSet, key: Uint8Array): KernelElement | undefined =>
    set.ranges === undefined
      ? getOrMake(indexes, set, () => byKey(elements(set))).get(key)
      : findRange(elements(set), set.ranges, key);
  const destinations = new RulesetDestinations(ruleset, elements);
  const source = new SourceWatch(family, { elements, isDynamic: (set) => dynamic.has(set) });
  return {
    mode: 'nftables',
    serviceAddresses: new Set(),
    doubts: destinations.doubts,
    destinations: () => destinations.all(),
    walk(packet, { localAddresses, remembered }, watch) {
      return new RulesetWalk(
        ruleset,
        packet,
        localAddresses,
        (_, set, key) => (remembered?.get(set.name)?.has(hex(key)) ? { key } : find(set, key)),
        () => undefined,
        { watch, source },
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

function byKey(elements: readonly KernelElement[]): BytesMap<KernelElement> {
  const index = new BytesMap<KernelElement>();
  for (const element of elements) if (element.key) index.set(element.key, element);
  return index;
}
