import { VARIANTS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
import { SET_FLAG } from '../../simulation/kernel/nf-tables/numbers.js';
import {
  isFlagged,
  type Chain,
  type Element,
  type Rule,
  type Table,
} from '../../simulation/kernel/nf-tables/objects.js';

/**
 * What packets can reach in a table of the program, to be compared: without unused structures, which stay until the next
 * verification, and in an order that does not depend on how it came about.
 */
export function rulesInUse(table: Table): unknown {
  const inUse = new InUse(table);
  return {
    chains: inUse.chains().map(({ name }) => [name, inUse.rules(name).map(ruleText)]),
    sets: [...table.sets.values()]
      .filter(({ name }) => !isSources(name) || inUse.elements(name).length > 0)
      .map(({ name }) => [name, inUse.elements(name).map(elementText).sort()])
      .sort(),
  };
}

class InUse {
  /** By the map of classes: the classes that frontends have. */
  private readonly classes = new Map<string, ReadonlySet<string>>();

  constructor(private readonly table: Table) {
    for (const variant of VARIANTS) {
      const { frontends, classes, shortCircuits, shortCircuitClasses } = setsOf(variant);
      this.classes.set(classes.name, this.valuesOf(frontends.name));
      this.classes.set(shortCircuitClasses.name, this.valuesOf(shortCircuits.name));
    }
  }

  elements(name: string): readonly Element[] {
    const set = this.table.sets.get(name)!;
    // What packets put there is not the program's.
    if (isFlagged(set, SET_FLAG.EVAL)) return [];
    const classes = this.classes.get(name);
    return [...set.elements.values()].filter(({ key }) => !classes || classes.has(key!.toString('hex')));
  }

  rules(chain: string): readonly Rule[] {
    const asksNothing = ({ expressions }: Rule): boolean =>
      expressions.some(({ set }) => set && isSources(set.name) && this.elements(set.name).length === 0);
    return this.table.chains.get(chain)!.rules.filter((rule) => !asksNothing(rule));
  }

  /** Base chains, and what they lead to, by name. */
  chains(): readonly Chain[] {
    const reached = new Set([...this.table.chains.values()].filter(({ base }) => base));
    for (const chain of reached) for (const target of this.targets(chain)) reached.add(target);
    return [...reached].sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  private targets({ name }: Chain): readonly Chain[] {
    return this.rules(name).flatMap(({ expressions }) =>
      expressions.flatMap(({ target, set }) => [
        ...(target ? [target] : []),
        ...(set ? this.elements(set.name).flatMap(({ verdict }) => verdict?.chain ?? []) : []),
      ]),
    );
  }

  private valuesOf(set: string): ReadonlySet<string> {
    return new Set(
      [...this.table.sets.get(set)!.elements.values()].map(({ value }) => value!.toString('hex')),
    );
  }
}

function isSources(set: string): boolean {
  return set.startsWith('sources-');
}

function ruleText({ dumped, userdata }: Rule): string {
  return `${dumped.toString('latin1')} ${userdata?.toString('latin1') ?? ''}`;
}

function elementText({ key, value, verdict, userdata }: Element): string {
  const leads = verdict && `${verdict.code} ${verdict.chain?.name}`;
  return [key?.toString('hex'), value?.toString('hex'), leads, userdata?.toString('latin1')].join(' ');
}
