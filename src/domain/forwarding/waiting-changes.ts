import { getOrMake, append } from '../model/maps.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../model/service-port-name.js';
import { frontendName, type ForwardingEntry } from './forwarding-entry.js';
import type { ForwardingChange } from './forwarding-table.js';
import { ownSlots } from './slot-tables.js';

/** Elements of rules, about, that are handed out together. nftables mode programs them in about 10 ms of processor time. */
export const WEIGHT_AT_ONCE = 2_000;
/** A Service whose changes weigh more than this part of a portion comes after the others. */
export const LIGHT_PART = 1 / 8;

interface ServiceChanges {
  readonly changes: Map<ServicePortKey, ForwardingChange>;
  weight: number;
}

/**
 * The queue of changes of the forwarding table that no backend has got yet. It is fair: they are handed out in portions, the small
 * changes first, in the order in which they came, then a part of the large ones, of each Service in turn. So a change does not
 * wait longer than one portion takes, independent of other Services. A single change that is larger than a portion comes alone, in a
 * later portion than the small changes that are there; small changes pass it twice. Changes that concern one frontend, such as those of the port that loses it and of the one that gets it, are never separated.
 */
export class WaitingChanges {
  /** In the order of their turns. */
  private readonly byService = new Map<ServiceKey, ServiceChanges>();
  private weight = 0;
  /** The service port whose large change is the next portion. */
  private next: ServicePortKey | undefined;
  /** Small changes have passed it in the turn after its own. */
  private wasPassed = false;
  /** Known while not all that waits fits into one portion; with changes among it that do not wait any more. */
  private byFrontend: Map<string, ForwardingChange[]> | undefined;

  constructor(private readonly weightAtOnce = WEIGHT_AT_ONCE) {}

  get empty(): boolean {
    return this.byService.size === 0;
  }

  /** Whether changes of the Service wait. */
  includes(service: ServiceKey): boolean {
    return this.byService.has(service);
  }

  /** Of two changes of one service port, the later one counts. */
  add(changes: readonly ForwardingChange[]): void {
    for (const change of changes) {
      const present = getOrMake(this.byService, serviceOf(change.key), (): ServiceChanges => ({
        changes: new Map(),
        weight: 0,
      }));
      const earlier = present.changes.get(change.key);
      const waiting = earlier ? { ...change, former: earlier.former } : change;
      present.changes.set(change.key, waiting);
      this.weigh(present, weightOf(waiting) - (earlier ? weightOf(earlier) : 0));
      if (this.byFrontend) index(waiting, this.byFrontend);
    }
  }

  /** The next portion. Costs what it hands out, and once what waits. It may be empty although changes wait: then a large one is the next. */
  take(): readonly ForwardingChange[] {
    if (this.weight <= this.weightAtOnce) return this.takeAll();
    if (!this.byFrontend) {
      this.byFrontend = new Map();
      for (const { changes } of this.byService.values())
        for (const change of changes.values()) index(change, this.byFrontend);
    }
    const portion: ForwardingChange[] = [];
    const large = this.next === undefined ? undefined : this.waiting(this.next);
    /** The weight of all at which the portion is full. */
    const end = this.weight - this.weightAtOnce;
    if (!large || !this.wasPassed) this.takeLight(portion, end);
    if (large) {
      this.wasPassed = portion.length > 0;
      if (this.wasPassed) return portion;
      this.next = undefined;
      this.takeWithOthers(large, portion);
      return portion;
    }
    this.next = undefined;
    this.wasPassed = false;
    for (const [service, present] of [...this.byService]) {
      if (this.weight <= end) break;
      this.takePart(present, portion, end);
      // The next turn is that of another Service.
      if (this.byService.delete(service) && present.changes.size > 0) this.byService.set(service, present);
    }
    return portion;
  }

  takeAll(): readonly ForwardingChange[] {
    const all = [...this.byService.values()].flatMap(({ changes }) => [...changes.values()]);
    this.byService.clear();
    this.weight = 0;
    this.byFrontend = undefined;
    return all;
  }

  private takeLight(portion: ForwardingChange[], end: number): void {
    for (const { weight, changes } of this.byService.values()) {
      if (this.weight <= end) break;
      if (weight <= this.weightAtOnce * LIGHT_PART)
        for (const change of changes.values()) this.takeWithOthers(change, portion);
    }
  }

  private takePart({ changes }: ServiceChanges, portion: ForwardingChange[], end: number): void {
    for (const change of changes.values()) {
      if (weightOf(change) > this.weightAtOnce) {
        this.next ??= change.key;
        break;
      }
      if (portion.length > 0 && this.weight - weightOf(change) < end) break;
      this.takeWithOthers(change, portion);
    }
  }

  /** The change, and all that concern a frontend of it, or a frontend of these, and so on. */
  private takeWithOthers(change: ForwardingChange, portion: ForwardingChange[]): void {
    const found = [change];
    for (let next = found.pop(); next; next = found.pop()) {
      if (this.waiting(next.key) !== next) continue;
      this.remove(next);
      portion.push(next);
      for (const frontend of frontendsOf(next)) {
        found.push(...(this.byFrontend!.get(frontend) ?? []));
        this.byFrontend!.delete(frontend);
      }
    }
  }

  private waiting(key: ServicePortKey): ForwardingChange | undefined {
    return this.byService.get(serviceOf(key))?.changes.get(key);
  }

  private remove(change: ForwardingChange): void {
    const service = serviceOf(change.key);
    const present = this.byService.get(service)!;
    present.changes.delete(change.key);
    this.weigh(present, -weightOf(change));
    if (present.changes.size === 0) this.byService.delete(service);
  }

  private weigh(present: ServiceChanges, more: number): void {
    present.weight += more;
    this.weight += more;
  }
}

function index(change: ForwardingChange, byFrontend: Map<string, ForwardingChange[]>): void {
  for (const frontend of frontendsOf(change)) append(byFrontend, frontend, change);
}

/** Those that the service port had, and those that it gets. */
function frontendsOf({ former, entry }: ForwardingChange): ReadonlySet<string> {
  const namesOf = (one: ForwardingEntry | undefined): readonly string[] =>
    one?.frontends.map(({ address, port }) => frontendName(address, port, one.name.protocol)) ?? [];
  return new Set([...namesOf(former), ...namesOf(entry)]);
}

/** About as many elements of rules as the change concerns: those before, or those after. */
function weightOf({ former, entry }: ForwardingChange): number {
  return Math.max(weightOfEntry(former), weightOfEntry(entry), 1);
}

/** About as many elements of rules as the entry has. */
export function weightOfEntry(entry: ForwardingEntry | undefined): number {
  if (!entry) return 0;
  const { frontends, endpoints, sourceRanges } = entry;
  // A slot takes half as long as the element of an endpoint.
  return frontends.length * (1 + endpoints.reachable.length + sourceRanges.length) + ownSlots(entry) / 2;
}
