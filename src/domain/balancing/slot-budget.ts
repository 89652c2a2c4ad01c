import { byAge } from '../model/service.js';
import type { ServiceKey } from '../model/service-port-name.js';

/** How many slots there may be in one IP family. */
interface SlotLimits {
  readonly ofService: number;
  readonly ofNode: number;
}

/** Memory of the kernel for a slot. */
export const BYTES_OF_SLOT = 80;

/** The greatest table four times, and 32 times: 5 and 42 MB of the kernel's memory. */
export const SLOT_LIMITS: SlotLimits = { ofService: 65_536, ofNode: 524_288 };

/** The tables of slots that a Service needs. */
export interface SlotDemand {
  readonly slots: number;
  /** The numbers of its tables, each once. */
  readonly tables: readonly number[];
  /** When the Service was created, in seconds since the epoch; missing: after all that are known. */
  readonly createdAt?: number | undefined;
  /** Why it gets none, however much space there is. */
  readonly obstacle?: string | undefined;
}

/**
 * Decides which Services get tables of slots. Older Services come first, then by name; each gets its tables if
 * there is space for all of them. So the decision depends on the present Services, not on the order of events.
 */
export class SlotBudget {
  private readonly demands = new Map<ServiceKey, SlotDemand>();
  private readonly denied = new Map<ServiceKey, string>();
  /** Whose demand has changed since the last decision. */
  private readonly changed = new Set<ServiceKey>();
  /** How many demands have each table number. */
  private readonly numbers = new Map<number, number>();
  private sharedNumbers = 0;
  private demanded = 0;
  private wasCrowded = false;

  constructor(private readonly limits = SLOT_LIMITS) {}

  /** Slots of the Services that have tables. */
  get used(): number {
    let used = 0;
    for (const [service, { slots }] of this.demands) if (!this.denied.has(service)) used += slots;
    return used;
  }

  /** How many Services need tables and get none. */
  get deniedServices(): number {
    return this.denied.size;
  }

  /** Why the Service has no tables; undefined if it has those that it needs. */
  reason(service: ServiceKey): string | undefined {
    return this.denied.get(service);
  }

  /** Replaces what a Service needs; undefined: nothing. `decide` follows. */
  request(service: ServiceKey, demand: SlotDemand | undefined): void {
    const former = this.demands.get(service);
    if (!former && !demand) return;
    if (former) this.count(former, -1);
    if (demand) this.count(demand, 1);
    if (demand) this.demands.set(service, demand);
    else this.demands.delete(service);
    this.changed.add(service);
  }

  /**
   * Returns the Services whose decision has changed. Costs what was requested; where there is not space for all, a walk through the
   * Services that need tables.
   */
  decide(): readonly ServiceKey[] {
    if (this.changed.size === 0) return [];
    const isCrowded = this.demanded > this.limits.ofNode || this.sharedNumbers > 0;
    const concerned = isCrowded || this.wasCrowded ? this.inOrder() : [...this.changed];
    this.wasCrowded = isCrowded;
    this.changed.clear();
    let left = this.limits.ofNode;
    const taken = new Set<number>();
    return concerned.filter((service) => {
      const demand = this.demands.get(service);
      const reason = demand && this.decided(demand, left, taken);
      if (demand && reason === undefined) {
        left -= demand.slots;
        for (const number of demand.tables) taken.add(number);
      }
      return this.note(service, reason);
    });
  }

  private decided(demand: SlotDemand, left: number, taken: ReadonlySet<number>): string | undefined {
    const obstacle = this.obstacleOf(demand);
    if (obstacle !== undefined) return obstacle;
    if (demand.slots > left)
      return `${demand.slots} slots are needed, and older Services use up the ${this.limits.ofNode} of the node`;
    if (demand.tables.some((number) => taken.has(number)))
      return 'a table of an older Service has the same number';
    return undefined;
  }

  private obstacleOf({ slots, obstacle }: SlotDemand): string | undefined {
    const { ofService } = this.limits;
    return (
      obstacle ??
      (slots > ofService ? `${slots} slots are needed, and a Service may have ${ofService}` : undefined)
    );
  }

  /** Returns whether that is news. */
  private note(service: ServiceKey, reason: string | undefined): boolean {
    if (this.denied.get(service) === reason) return false;
    if (reason === undefined) this.denied.delete(service);
    else this.denied.set(service, reason);
    return true;
  }

  /** Those without a demand come last. */
  private inOrder(): readonly ServiceKey[] {
    const all = [...this.demands.keys()].sort(byAge((service) => this.demands.get(service)!.createdAt));
    return [...all, ...[...this.denied.keys()].filter((service) => !this.demands.has(service))];
  }

  private count(demand: SlotDemand, step: 1 | -1): void {
    // One that gets none takes no room.
    if (this.obstacleOf(demand) !== undefined) return;
    this.demanded += step * demand.slots;
    for (const number of demand.tables) {
      const users = (this.numbers.get(number) ?? 0) + step;
      if (users === 0) this.numbers.delete(number);
      else this.numbers.set(number, users);
      if (users === 2 && step === 1) this.sharedNumbers++;
      if (users === 1 && step === -1) this.sharedNumbers--;
    }
  }
}
