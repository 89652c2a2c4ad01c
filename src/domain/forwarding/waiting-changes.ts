import { append } from '../model/grouped.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../model/service-port-name.js';
import { frontendPlace, type ForwardingEntry } from './forwarding-entry.js';
import type { ForwardingChange } from './forwarding-table.js';

/** So many ports of one Service are handed out at once: mode nftables programs them in about 0.1 s. */
const PORTS_AT_ONCE = 2_000;

type ChangesOfService = Map<ServicePortKey, ForwardingChange>;

/**
 * Changes of the forwarding table that no backend has got yet. They are handed out in portions, so that a Service with very many
 * ports does not delay others: all changes of other Services, and a part of its own. Changes that concern one frontend, such as
 * those of the port that loses it and of the one that gets it, are never separated.
 */
export class WaitingChanges {
  private readonly byService = new Map<ServiceKey, ChangesOfService>();
  /** Known while a Service has too many; with changes among it that do not wait any more. */
  private byFrontend: Map<string, ForwardingChange[]> | undefined;

  constructor(private readonly portsAtOnce = PORTS_AT_ONCE) {}

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
      const present: ChangesOfService = this.byService.get(service) ?? new Map();
      const earlier = present.get(change.key);
      const waiting = earlier ? { ...change, former: earlier.former } : change;
      this.byService.set(service, present.set(change.key, waiting));
      if (this.byFrontend) index(waiting, this.byFrontend);
    }
  }

  /** The next portion: all, unless a Service has too many. Costs what it hands out, and once what waits. */
  take(): readonly ForwardingChange[] {
    const large = [...this.byService.values()].some(({ size }) => size > this.portsAtOnce);
    if (!large) return this.takeAll();
    this.byFrontend ??= indexed([...this.byService.values()]);
    const portion: ForwardingChange[] = [];
    const taken = new Map<ServiceKey, number>();
    for (const [service, changes] of this.byService)
      for (const change of changes.values()) {
        if ((taken.get(service) ?? 0) >= this.portsAtOnce) break;
        for (const each of this.takeWithOthers(change, this.byFrontend)) {
          const owner = serviceOf(each.key);
          taken.set(owner, (taken.get(owner) ?? 0) + 1);
          portion.push(each);
        }
      }
    return portion;
  }

  takeAll(): readonly ForwardingChange[] {
    const all = [...this.byService.values()].flatMap((changes) => [...changes.values()]);
    this.byService.clear();
    this.byFrontend = undefined;
    return all;
  }

  /** The change, and all that concern a frontend of it, or a frontend of these, and so on. */
  private *takeWithOthers(
    change: ForwardingChange,
    byFrontend: Map<string, ForwardingChange[]>,
  ): Generator<ForwardingChange> {
    const found = [change];
    for (let next = found.pop(); next; next = found.pop()) {
      if (!this.remove(next)) continue;
      yield next;
      for (const frontend of frontendsOf(next)) {
        found.push(...(byFrontend.get(frontend) ?? []));
        byFrontend.delete(frontend);
      }
    }
  }

  /** Returns false if it does not wait any more. */
  private remove(change: ForwardingChange): boolean {
    const service = serviceOf(change.key);
    const present = this.byService.get(service);
    if (present?.get(change.key) !== change) return false;
    present.delete(change.key);
    if (present.size === 0) this.byService.delete(service);
    return true;
  }
}

function indexed(services: readonly ChangesOfService[]): Map<string, ForwardingChange[]> {
  const byFrontend = new Map<string, ForwardingChange[]>();
  for (const changes of services) for (const change of changes.values()) index(change, byFrontend);
  return byFrontend;
}

function index(change: ForwardingChange, byFrontend: Map<string, ForwardingChange[]>): void {
  for (const frontend of frontendsOf(change)) append(byFrontend, frontend, change);
}

/** Those that the service port had, and those that it gets. */
function frontendsOf({ former, entry }: ForwardingChange): ReadonlySet<string> {
  return new Set([...placesOf(former), ...placesOf(entry)]);
}

function placesOf(entry: ForwardingEntry | undefined): readonly string[] {
  return entry?.frontends.map((frontend) => `${frontendPlace(frontend)}/${entry.name.protocol}`) ?? [];
}
