import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { getOrMake } from '../../domain/model/maps.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { KUBE_PROXY_MAPS } from '../../domain/nftables/layout/kube-proxy-maps.js';
import {
  LISTED_SETS,
  POSSIBLE_SETS,
  LOOKED_UP_SETS,
  setsOf,
  SLOTS,
  CLUSTER_IPS,
  HAIRPIN_CONNECTIONS,
  VARIANTS,
} from '../../domain/nftables/layout/sets.js';
import type { SetDefinition, SetElement } from '../../domain/nftables/layout/table.js';
import { slotsPartKey } from '../../domain/nftables/slots-part.js';
import {
  adoptedParts,
  type AdoptedFrontend,
  type ElementLookup,
  type AdoptedSets,
} from '../../domain/nftables/state/adopted-rules.js';
import type { NftablesDesiredState } from '../../domain/nftables/state/desired-state.js';
import { tableChains, tableSets } from '../../domain/nftables/state/desired-table.js';
import {
  sameElement,
  type PlacedElement,
  type TablePart,
} from '../../domain/nftables/state/service-port-rules.js';
import { fits, isOfAnotherLayout } from './table-difference.js';
import type { NftTransport, TableState } from './transport.js';

/** Kernels that do not count elements need whole lists to show unknown ones; above this size that takes them too long. */
const LISTED_AT_MOST = 100_000;

/**
 * Reads the table to find out where it differs from the desired state. The kernel lists a large set ever more slowly, so only the
 * sets of frontends and the small ones are listed; elements of the others are looked up by their keys, and listed only if the
 * kernel counts more than are known.
 * @param how `byDigest`: service ports whose digests are in the table need not be looked up; `mayBeReplaced`: nothing is kept of a table
 * of another layout, so its elements need not be known
 */
export async function readTable(
  transport: NftTransport,
  family: IpFamily,
  { state: desired, node }: Desired,
  { byDigest, mayBeReplaced }: { readonly byDigest: boolean; readonly mayBeReplaced: boolean },
  signal?: AbortSignal,
): Promise<TableReading> {
  const state = await transport.read(family, [...LISTED_SETS, ...KUBE_PROXY_MAPS], signal);
  const isOfAnother = state !== undefined && isOfAnotherLayout(state, family);
  if (!state || (isOfAnother && mayBeReplaced)) return { state, verified: new Set(), isPartial: false };
  if (isOfAnother) return whole(transport, family, signal);
  const counts = [...state.sets.values()].some(({ count }) => count !== undefined);
  const needsLists = !byDigest && !counts && desired.elementCount <= LISTED_AT_MOST;
  const chains = tableChains(desired, node).map(({ chain }) => chain);
  if (needsLists || !fits(chains, tableSets(desired, node), state, family))
    return whole(transport, family, signal);
  const inspection = new Inspection(transport, family, desired, state, signal);
  return inspection.run(byDigest);
}

async function whole(
  transport: NftTransport,
  family: IpFamily,
  signal: AbortSignal | undefined,
): Promise<TableReading> {
  return {
    state: await transport.read(family, [...POSSIBLE_SETS, ...KUBE_PROXY_MAPS], signal),
    verified: new Set(),
    isPartial: false,
  };
}

/** Elements compiled and looked up before the event loop gets its turn: a millisecond's work. */
const ELEMENTS_AT_ONCE = 256;
const FRONTENDS_AT_ONCE = 64;

/** A part with its elements, or the listed ones, which are compiled each time that they are read. */
interface CompiledPart {
  readonly part: TablePart;
  readonly elements: readonly PlacedElement[];
}

/**
 * Finds the parts of the desired state that the table has as they should be, and what else it has. `elements` begins with what
 * was listed; what is looked up is added, what belongs to a verified part is taken away.
 */
class Inspection {
  private readonly elements = new Map<string, Map<string, SetElement>>();
  private readonly verified = new Set<TablePart>();
  private readonly soundElements = new Map<SetDefinition, number>();

  constructor(
    private readonly transport: NftTransport,
    private readonly family: IpFamily,
    private readonly desired: NftablesDesiredState,
    private readonly state: TableState,
    private readonly signal: AbortSignal | undefined,
  ) {
    for (const [name, { elements }] of state.sets) this.elements.set(name, new Map(elements));
  }

  async run(byDigest: boolean): Promise<TableReading> {
    let batch: CompiledPart[] = [];
    let size = 0;
    for (const held of this.desired.parts.heldByOwner()) {
      const recognized = byDigest && this.recognized(held);
      if (recognized) {
        for (const part of recognized) this.isSound(part);
        size += recognized.length;
      } else {
        const parts = held.map((part) => ({ part, elements: part.elements }));
        for (const { elements } of parts) size += elements.length;
        batch.push(...parts);
      }
      if (size < ELEMENTS_AT_ONCE) continue;
      await this.compare(batch);
      batch = [];
      size = 0;
    }
    await this.compare(batch);
    await this.lookUpRest();
    if (!byDigest) await this.listUnknown();
    return { state: this.rest(), verified: this.verified, isPartial: byDigest };
  }

  /** A service port's parts with their listed elements, if all these are as they should be, with their digest. */
  private recognized(held: readonly TablePart[]): readonly CompiledPart[] | undefined {
    const parts = held.map((part) => ({ part, elements: part.listed }));
    let marked = false;
    for (const { elements } of parts)
      for (const element of elements) {
        const present = this.elements.get(element.set.name)?.get(element.key);
        if (!present || !sameElement(present, element)) return undefined;
        if (element.digest === undefined) continue;
        if (present.digest === undefined) return undefined;
        marked = true;
      }
    return marked ? parts : undefined;
  }

  private async compare(parts: readonly CompiledPart[]): Promise<void> {
    const wanted = new WantedElements();
    for (const { elements } of parts)
      for (const { set, key } of elements) if (LOOKED_UP_SETS.has(set)) wanted.add(set, key);
    await this.lookUp(wanted);
    for (const part of parts) if (part.elements.every((element) => this.has(element))) this.isSound(part);
  }

  /**
   * Looks up what belongs to frontends that no verified part explains. What one element leads to, such as the address of an
   * endpoint's id, is known only when that element has been read, so it takes a few rounds.
   */
  private async lookUpRest(): Promise<void> {
    const frontends = this.unexplainedFrontends();
    for (let from = 0; from < frontends.length; from += FRONTENDS_AT_ONCE) {
      const some = frontends.slice(from, from + FRONTENDS_AT_ONCE);
      for (const wanted = new WantedElements(this.elements); ;) {
        for (const frontend of some) adoptedParts(wanted, frontend);
        if (wanted.size === 0) break;
        this.shareAgain(wanted);
        await this.lookUp(wanted);
        wanted.markLookedUp();
      }
    }
  }

  private unexplainedFrontends(): readonly AdoptedFrontend[] {
    return VARIANTS.flatMap((variant) => {
      const { frontends, noEndpoints, noLocalEndpoints } = setsOf(variant);
      const keys = [frontends, noEndpoints, noLocalEndpoints].flatMap(({ name }) => [
        ...(this.elements.get(name)?.keys() ?? []),
      ]);
      return [...new Set(keys)].map((key) => ({ variant, key }));
    });
  }

  /** Parts that an unexplained frontend shares with a verified part must be compared, or they would count as unknown. */
  private shareAgain(wanted: WantedElements): void {
    for (const [set, keys] of wanted.bySet())
      for (const key of keys) {
        const part = this.desired.parts.heldPart(set === SLOTS ? slotsPartKey(key) : `${set.name} ${key}`);
        if (part && this.verified.delete(part)) this.countVerified(part.elements, -1);
      }
  }

  /** Lists the sets that have more elements than are known by now. */
  private async listUnknown(): Promise<void> {
    const sets = [...LOOKED_UP_SETS].filter((set) => {
      const known = (this.soundElements.get(set) ?? 0) + (this.elements.get(set.name)?.size ?? 0);
      const { count = known } = this.state.sets.get(set.name) ?? {};
      return count !== known;
    });
    if (sets.length === 0) return;
    const listed = await this.transport.read(this.family, sets, this.signal);
    for (const set of sets) {
      const desired = new Set<string>();
      this.desired.forEachElement((element) => {
        if (element.set === set) desired.add(element.key);
      });
      for (const [key, element] of listed?.sets.get(set.name)?.elements ?? [])
        if (!desired.has(key)) this.put(set, key, element);
    }
  }

  private async lookUp(wanted: WantedElements): Promise<void> {
    await yieldToEventLoop();
    this.signal?.throwIfAborted();
    for (const [set, keys] of wanted.bySet())
      for (const [key, element] of await this.transport.lookUp(this.family, set, keys))
        this.put(set, key, element);
  }

  private has(element: PlacedElement): boolean {
    const present = this.elements.get(element.set.name)?.get(element.key);
    return present !== undefined && sameElement(present, element);
  }

  private isSound({ part, elements }: CompiledPart): void {
    this.verified.add(part);
    this.countVerified(elements, 1);
    for (const { set, key } of elements) this.elements.get(set.name)?.delete(key);
  }

  private countVerified(elements: readonly PlacedElement[], sign: 1 | -1): void {
    for (const { set } of elements) this.soundElements.set(set, (this.soundElements.get(set) ?? 0) + sign);
  }

  private put({ name }: SetDefinition, key: string, element: SetElement): void {
    getOrMake(this.elements, name, () => new Map<string, SetElement>()).set(key, element);
  }

  private rest(): TableState {
    const sets = new Map(
      Array.from(this.state.sets, ([name, set]) => [
        name,
        { ...set, elements: this.elements.get(name) ?? new Map<string, SetElement>() },
      ]),
    );
    return { ...this.state, sets };
  }
}

/** The unexpected content of the table. */
export interface TableReading {
  /** Undefined: there is no table. Without the elements of verified parts. */
  readonly state: TableState | undefined;
  /** Parts of the desired state whose elements are all there. */
  readonly verified: ReadonlySet<TablePart>;
  /** Service ports were recognized by their digests: the table may lack some of their elements, or have unknown ones. */
  readonly isPartial: boolean;
}

/** The desired state to compare with, and the node. */
interface Desired {
  readonly state: NftablesDesiredState;
  readonly node: NodeNetwork;
}

const BY_NAME = new Map([...LOOKED_UP_SETS].map((set) => [set.name, set]));

/** Elements to look up. As a lookup of known elements, it records unknown ones. */
class WantedElements implements ElementLookup {
  private wanted = new Map<SetDefinition, Set<string>>();
  private readonly missing = new Map<SetDefinition, Set<string>>();

  /** @param known by the name of the set */
  constructor(
    private readonly known: ReadonlyMap<string, ReadonlyMap<string, SetElement>> = new Map<string, never>(),
  ) {}

  get size(): number {
    return this.wanted.size;
  }

  add(set: SetDefinition, key: string): void {
    getOrMake(this.wanted, set, () => new Set<string>()).add(key);
  }

  element(name: string, key: string): SetElement | undefined {
    const present = this.known.get(name)?.get(key);
    const set = BY_NAME.get(name);
    if (!present && set && !this.missing.get(set)?.has(key)) this.add(set, key);
    return present;
  }

  *bySet(): Generator<readonly [SetDefinition, readonly string[]]> {
    for (const [set, keys] of this.wanted) yield [set, [...keys]];
  }

  /** All desired elements have been looked up: those still unknown do not exist. */
  markLookedUp(): void {
    for (const [set, keys] of this.wanted)
      for (const key of keys) getOrMake(this.missing, set, () => new Set<string>()).add(key);
    this.wanted = new Map();
  }
}

const OF_KUBE_PROXY: ReadonlySet<string> = new Set(
  [...KUBE_PROXY_MAPS, CLUSTER_IPS, HAIRPIN_CONNECTIONS].map(({ name }) => name),
);

/** The parts of a table that can be kept: of kube-proxy's table its maps, and the parts shared with ours. */
export function adoptedSets(actual: TableState | undefined, family: IpFamily): AdoptedSets {
  if (!actual) return new Map();
  if (!isOfAnotherLayout(actual, family)) return actual.sets;
  return new Map([...actual.sets].filter(([name]) => OF_KUBE_PROXY.has(name)));
}
