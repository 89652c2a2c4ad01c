import type { Balancing } from '../balancing/balancing.js';
import { slotsOf, tableNumber, type Slots } from '../balancing/slots.js';
import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { makesSameTable } from '../forwarding/slot-tables.js';
import type { Endpoint } from '../model/endpoint.js';
import { flatText } from '../model/text.js';
import { chosenFrom, namedNumbers, slotsOfList, type ListName } from './endpoint-numbers.js';
import { formatPriority, type SetElement } from './layout/table.js';
import { SLOTS } from './layout/sets.js';
import type { Structure } from './layout/structure.js';
import type { ElementChanges, PlacedElement, TablePart } from './state/service-port-rules.js';

const NO_STRUCTURES: readonly Structure[] = [];
const NO_ELEMENTS: readonly PlacedElement[] = [];

/** The number of the list's table, as an element has it. */
export function tableText({ key, balancing }: ForwardingEntry, name: ListName): string {
  return formatPriority(tableNumber(balancing?.tables?.[name] ?? key, name));
}

/** The table of the list; undefined if it needs none. */
export function slotsPart(entry: ForwardingEntry, name: ListName): SlotsPart | undefined {
  if (slotsOfList(entry, name) === undefined) return undefined;
  const { balancing, affinitySeconds } = entry;
  return new SlotsPart(tableText(entry, name), chosenFrom(entry, name), balancing!, affinitySeconds > 0);
}

/** The key of the part that an element of the slots belongs to. */
export function slotsPartKey(elementKey: string): string {
  return flatText(SLOTS.name, ' ', elementKey.split(' ', 1)[0]!);
}

/** The table of that number, as an earlier process left it; undefined if there is none. */
export function adoptedSlots(
  present: { element(set: string, key: string): SetElement | undefined },
  number: string,
  count: number,
): TablePart | undefined {
  const elements = Array.from({ length: count }, (_, slot) =>
    present.element(SLOTS.name, slotKey(number, slot)),
  ).flatMap((element) => (element ? [{ set: SLOTS, ...element }] : []));
  if (elements.length === 0) return undefined;
  return { key: slotsPartKey(number), shared: SLOTS, elements, listed: NO_ELEMENTS, uses: NO_STRUCTURES };
}

function slotKey(number: string, slot: number): string {
  return flatText(number, ' . ', String(slot));
}

/**
 * The table of a list of endpoints, which all frontends that lead to such a list share. It is made for the service port that holds it,
 * and kept as numbers: a text for each slot exists only while it is written or compared.
 */
export class SlotsPart implements TablePart {
  readonly shared = SLOTS;
  private made: { readonly slots: Slots; readonly numbers: readonly string[] } | undefined;

  constructor(
    private readonly number: string,
    private readonly endpoints: readonly Endpoint[],
    private readonly balancing: Balancing,
    private readonly isPrime: boolean,
  ) {}

  get key(): string {
    return slotsPartKey(this.number);
  }

  get elements(): readonly PlacedElement[] {
    const { slots } = this.table;
    return Array.from({ length: slots.length }, (_, slot) => this.element(slot));
  }

  get listed(): readonly PlacedElement[] {
    return NO_ELEMENTS;
  }

  get uses(): readonly Structure[] {
    return NO_STRUCTURES;
  }

  /** Only what differs. */
  changesFrom(former: TablePart): ElementChanges | undefined {
    if (!(former instanceof SlotsPart)) return undefined;
    const [before, after] = [former.table.slots.length, this.table.slots.length];
    const [removed, added]: [PlacedElement[], PlacedElement[]] = [[], []];
    for (let slot = 0; slot < Math.max(before, after); slot++) {
      const [from, to] = [former.valueOf(slot), this.valueOf(slot)];
      if (from === to) continue;
      if (from !== undefined) removed.push(former.element(slot));
      if (to !== undefined) added.push(this.element(slot));
    }
    return { removed, added };
  }

  /** Whether the other one makes the same elements. */
  equals(other: TablePart): boolean {
    return (
      other instanceof SlotsPart &&
      this.number === other.number &&
      this.isPrime === other.isPrime &&
      this.balancing.method === other.balancing.method &&
      makesSameTable(this.endpoints, other.endpoints)
    );
  }

  private get table() {
    if (this.made) return this.made;
    const slots = slotsOf(this.endpoints, this.balancing, this.isPrime)!;
    return (this.made = { slots, numbers: namedNumbers(this.endpoints) });
  }

  private valueOf(slot: number): string | undefined {
    const { slots, numbers } = this.table;
    return numbers[slots[slot]!];
  }

  private element(slot: number): PlacedElement {
    return { set: SLOTS, key: slotKey(this.number, slot), value: this.valueOf(slot)! };
  }
}
