import { frontendText, NODE_PORT, type FrontendAddress } from '../../conntrack/frontend-map.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import type { DesiredState } from '../../reconcile/desired-state.js';
import { OwnedParts, type OwnedPart } from '../../reconcile/owned-parts.js';
import { setsOf, VARIANTS } from '../layout/sets.js';
import type { Structure } from '../layout/structure.js';
import {
  TableChange,
  type ElementChanges,
  type NftablesServicePortRules,
  type PlacedElement,
  type TablePart,
} from './service-port-rules.js';

const NO_PARTS: ReadonlySet<TablePart> = new Set();

/** The rules of all service ports in the table, with the structures and ids that they use. */
export class NftablesDesiredState implements DesiredState<NftablesServicePortRules, TableChange> {
  readonly ids = new IdsInUse();
  /** Elements are compared once, where a change collects them. */
  readonly parts = new OwnedParts<TablePart>((one, other) => one === other);
  private readonly users = new Map<string, { readonly structure: Structure; count: number }>();
  private partsOfKubeProxy = 0;
  private hasRulesOfKubeProxy = false;

  rules(owner: ServicePortKey): NftablesServicePortRules | undefined {
    return this.parts.of(owner);
  }

  replace(owner: ServicePortKey, rules: NftablesServicePortRules | undefined, change?: TableChange): void {
    this.parts.replace(owner, rules, (before, after) => this.switchOwner(before, after, change));
  }

  newChange(): TableChange {
    return new TableChange();
  }

  lost(frontends: readonly FrontendAddress[]): readonly FrontendAddress[] {
    const wanted = new Set<string>();
    this.forEachElement(({ set, key }) => {
      if (MAPS.has(set) && isUdp(key)) wanted.add(frontendText(frontendAddress(key)));
    });
    return frontends.filter((frontend) => !wanted.has(frontendText(frontend)));
  }

  /** Whether service ports hold parts that kube-proxy left. */
  get needsKubeProxyRules(): boolean {
    return this.partsOfKubeProxy > 0;
  }

  /** Whether the rules that lead to these stay: they outlast the change that takes the last part, which may be refused. */
  get keepsKubeProxyRules(): boolean {
    return this.needsKubeProxyRules || this.hasRulesOfKubeProxy;
  }

  /** To be called before everything is compared with the kernel: what is not needed then may go. */
  dropUnneededRules(): void {
    this.hasRulesOfKubeProxy = this.needsKubeProxyRules;
  }

  /** Structures in use. */
  *structures(): Generator<Structure> {
    for (const { structure } of this.users.values()) yield structure;
  }

  /** Calls `take` for every element of service ports, with its owner, except for those of these parts. */
  forEachElement(
    take: (element: PlacedElement, owner: ServicePortKey) => void,
    except: ReadonlySet<TablePart> = NO_PARTS,
  ): void {
    for (const { owner, part } of this.parts.held((part) => !except.has(part)))
      for (const element of part.elements) take(element, owner);
  }

  /** How many elements service ports have. */
  get elementCount(): number {
    let count = 0;
    this.forEachElement(() => count++);
    return count;
  }

  private switchOwner(
    before: OwnedPart<TablePart> | undefined,
    after: OwnedPart<TablePart> | undefined,
    change: TableChange | undefined,
  ): void {
    if (change) {
      const { removed, added } = elementChanges(before?.part, after?.part);
      for (const element of removed) change.remove(element.set, element, before!.owner);
      for (const element of added) change.add(element.set, element, after!.owner);
    }
    if (after?.part.isKubeProxys) {
      this.partsOfKubeProxy++;
      this.hasRulesOfKubeProxy = true;
    }
    if (before?.part.isKubeProxys) this.partsOfKubeProxy--;
    this.ids.use(after?.part.ids ?? []);
    this.ids.abandon(before?.part.ids ?? []);
    for (const structure of after?.part.uses ?? []) this.use(structure, change);
    for (const structure of before?.part.uses ?? []) this.abandon(structure, change);
  }

  private use(structure: Structure, change: TableChange | undefined): void {
    const user = this.users.get(structure.name);
    if (user) {
      user.count++;
      return;
    }
    this.users.set(structure.name, { structure, count: 1 });
    change?.structureCame(structure);
  }

  private abandon(structure: Structure, change: TableChange | undefined): void {
    const user = this.users.get(structure.name)!;
    if (--user.count > 0) return;
    this.users.delete(structure.name);
    change?.structureWent(structure);
  }
}

function elementChanges(before: TablePart | undefined, after: TablePart | undefined): ElementChanges {
  const changes = before && after?.changesFrom?.(before);
  return changes ?? { removed: before?.elements ?? [], added: after?.elements ?? [] };
}

/**
 * The ids of endpoints, as elements of `affinity` begin with them, that rules with session affinity lead to. An id is a hash of its
 * endpoint, so one that comes back has the same, and what the kernel remembers under it must be gone by then.
 */
export class IdsInUse {
  private readonly users = new Map<string, number>();
  private abandoned = new Set<string>();

  has(id: string): boolean {
    return this.users.has(id);
  }

  /** All at this moment. */
  all(): ReadonlySet<string> {
    return new Set(this.users.keys());
  }

  /** One frontend more leads to these. */
  use(ids: readonly string[]): void {
    for (const id of ids) {
      this.users.set(id, (this.users.get(id) ?? 0) + 1);
      this.abandoned.delete(id);
    }
  }

  /** One frontend less leads to these. */
  abandon(ids: readonly string[]): void {
    for (const id of ids) {
      const others = this.users.get(id)! - 1;
      if (others > 0) {
        this.users.set(id, others);
      } else {
        this.users.delete(id);
        this.abandoned.add(id);
      }
    }
  }

  /** Those that were abandoned by their last frontend since the last call, and are not in use again. */
  takeAbandoned(): ReadonlySet<string> {
    const { abandoned } = this;
    if (abandoned.size > 0) this.abandoned = new Set();
    return abandoned;
  }
}

const MAPS = new Set(VARIANTS.map((variant) => setsOf(variant).frontends));

/** The UDP frontends that lead to endpoints in the sets of a table, by their names. */
export function udpFrontends(
  sets: ReadonlyMap<string, { readonly elements: ReadonlyMap<string, unknown> }>,
): readonly FrontendAddress[] {
  return [...MAPS].flatMap(({ name }) =>
    [...(sets.get(name)?.elements.keys() ?? [])].filter(isUdp).map(frontendAddress),
  );
}

/** Keys are `10.96.0.10 . udp . 53`, or `udp . 30053` for a node port. */
function isUdp(key: string): boolean {
  return key.split(' . ').at(-2) === 'udp';
}

function frontendAddress(key: string): FrontendAddress {
  const [port, , address = NODE_PORT] = key.split(' . ').reverse();
  return { address, port: Number(port) };
}
