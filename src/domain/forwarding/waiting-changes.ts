import { getOrMake, append } from '../model/maps.js';
import { flatText } from '../model/text.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../model/service-port-name.js';
import type { ForwardingEntry } from './forwarding-entry.js';
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
 * wait longer than one portion takes, whatever another Service does. A single change that is larger than a portion comes alone, in a
 * later portion than the small changes that are there; small changes pass it twice. Changes that concern one frontend, such as those of the
 * port that loses it and of the one that gets it, are never separated.
 */
export class WaitingChanges {
  /** The Service that has waited longest comes first. */
  private readonly byService = new Map<ServiceKey, ServiceChanges>();
  /** Those with more than a part of a portion, in the order of their turns. */
  private readonly heavy = new Set<ServiceKey>();
  private weight = 0;
  /** The large change that comes next, alone. */
  private postponed: ForwardingChange | undefined;
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
      const service = serviceOf(change.key);
      const present = getOrMake(this.byService, service, (): ServiceChanges => ({
        changes: new Map(),
        weight: 0,
      }));
      const earlier = present.changes.get(change.key);
      const waiting = earlier ? { ...change, former: earlier.former } : change;
      present.changes.set(change.key, waiting);
      if (earlier && earlier === this.postponed) this.postponed = waiting;
      this.weigh(service, present, weightOf(waiting) - (earlier ? weightOf(earlier) : 0));
      if (this.byFrontend) index(waiting, this.byFrontend);
    }
  }

  /** The next portion. Costs what it hands out, and once what waits. It may be empty although changes wait: then a large one is the next. */
  take(): readonly ForwardingChange[] {
    if (this.weight <= this.weightAtOnce) return this.takeAll();
    this.byFrontend ??= indexed([...this.byService.values()]);
    const portion: ForwardingChange[] = [];
    const end = this.weight - this.weightAtOnce;
    if (!this.postponed || !this.wasPassed) this.takeLight(portion, end);
    if (this.postponed) {
      this.wasPassed = portion.length > 0;
      if (!this.wasPassed) this.takeWithOthers(this.postponed, portion);
      return portion;
    }
    for (const service of [...this.heavy]) {
      if (this.weight <= end) break;
      this.takeOfHeavy(service, portion, end);
    }
    return portion;
  }

  takeAll(): readonly ForwardingChange[] {
    const all = [...this.byService.values()].flatMap(({ changes }) => [...changes.values()]);
    this.byService.clear();
    this.heavy.clear();
    this.weight = 0;
    this.byFrontend = undefined;
    this.postponed = undefined;
    this.wasPassed = false;
    return all;
  }

  /** @param end the weight of all at which the portion is full */
  private takeLight(portion: ForwardingChange[], end: number): void {
    for (const [service, { changes }] of this.byService) {
      if (this.weight <= end) break;
      if (this.heavy.has(service)) continue;
      for (const change of changes.values()) this.takeWithOthers(change, portion);
    }
  }

  /** @param end the weight of all at which the portion is full */
  private takeOfHeavy(service: ServiceKey, portion: ForwardingChange[], end: number): void {
    for (const change of this.byService.get(service)?.changes.values() ?? []) {
      if (weightOf(change) > this.weightAtOnce) {
        this.postponed ??= change;
        break;
      }
      if (portion.length > 0 && this.weight - weightOf(change) < end) break;
      this.takeWithOthers(change, portion);
    }
    // The next turn is that of another Service.
    if (this.heavy.delete(service) && this.byService.has(service)) this.heavy.add(service);
  }

  /** The change, and all that concern a frontend of it, or a frontend of these, and so on. */
  private takeWithOthers(change: ForwardingChange, portion: ForwardingChange[]): void {
    const found = [change];
    for (let next = found.pop(); next; next = found.pop()) {
      if (!this.remove(next)) continue;
      portion.push(next);
      for (const frontend of frontendsOf(next)) {
        found.push(...(this.byFrontend!.get(frontend) ?? []));
        this.byFrontend!.delete(frontend);
      }
    }
  }

  /** Returns false if it does not wait any more. */
  private remove(change: ForwardingChange): boolean {
    const service = serviceOf(change.key);
    const present = this.byService.get(service);
    if (present?.changes.get(change.key) !== change) return false;
    present.changes.delete(change.key);
    if (change === this.postponed) this.postponed = undefined;
    this.weigh(service, present, -weightOf(change));
    return true;
  }

  private weigh(service: ServiceKey, present: ServiceChanges, more: number): void {
    present.weight += more;
    this.weight += more;
    if (present.changes.size === 0) this.byService.delete(service);
    if (present.weight > this.weightAtOnce * LIGHT_PART) this.heavy.add(service);
    else this.heavy.delete(service);
  }
}

function indexed(services: readonly ServiceChanges[]): Map<string, ForwardingChange[]> {
  const byFrontend = new Map<string, ForwardingChange[]>();
  for (const { changes } of services) for (const change of changes.values()) index(change, byFrontend);
  return byFrontend;
}

function index(change: ForwardingChange, byFrontend: Map<string, ForwardingChange[]>): void {
  for (const frontend of frontendsOf(change)) append(byFrontend, frontend, change);
}

/** Those that the service port had, and those that it gets; nearly always the same ones. */
function frontendsOf({ former, entry }: ForwardingChange): readonly string[] {
  if (!former || !entry || haveSameFrontends(former, entry)) return placesOf(entry ?? former);
  return [...new Set([...placesOf(former), ...placesOf(entry)])];
}

function haveSameFrontends({ frontends }: ForwardingEntry, { frontends: others }: ForwardingEntry): boolean {
  return (
    frontends.length === others.length &&
    frontends.every(({ address, port }, index) => {
      const other = others[index]!;
      return address === other.address && port === other.port;
    })
  );
}

const NO_PLACES: readonly string[] = [];

function placesOf(entry: ForwardingEntry | undefined): readonly string[] {
  if (!entry) return NO_PLACES;
  return entry.frontends.map(({ address = '', port }) =>
    flatText(address, '/', String(port), entry.name.protocol),
  );
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
