import type { ServiceKey, ServicePortKey } from '../model/service-port-name.js';
import type { ClusterState } from '../state/cluster-state.js';
import { forwardService, type ForwardingContext } from './forward-service.js';
import type { ForwardingEntry } from './forwarding-entry.js';

/** A service port whose entry was computed again, or is gone (`entry` undefined). */
export interface ForwardingChange {
  readonly key: ServicePortKey;
  readonly entry: ForwardingEntry | undefined;
  /** The entry before. Missing for a new service port, and where everything is programmed. */
  readonly former?: ForwardingEntry | undefined;
}

/**
 * The forwarding table of one family: an entry for each service port, kept up to date by what changed. Every backend,
 * plan and explain read it.
 */
export class ForwardingTable {
  private readonly entriesByKey = new Map<ServicePortKey, ForwardingEntry>();
  private readonly portsOf = new Map<ServiceKey, readonly ServicePortKey[]>();
  private lacking = { internal: 0, external: 0 };

  /** Of all Services that are known, made at once. */
  static of(state: ClusterState, context: ForwardingContext): ForwardingTable {
    const table = new ForwardingTable();
    table.update(state, [...state.serviceKeys()].sort(), context);
    return table;
  }

  /** Service ports with a Local policy that have endpoints elsewhere, but none here (docs/spec/model.md §5). */
  get noLocalEndpoints(): { readonly internal: number; readonly external: number } {
    return this.lacking;
  }

  get size(): number {
    return this.entriesByKey.size;
  }

  entries(): Iterable<ForwardingEntry> {
    return this.entriesByKey.values();
  }

  /** Services that have entries. */
  services(): Iterable<ServiceKey> {
    return this.portsOf.keys();
  }

  /** Whether the Service has entries. */
  has(service: ServiceKey): boolean {
    return this.portsOf.has(service);
  }

  entry(key: ServicePortKey): ForwardingEntry | undefined {
    return this.entriesByKey.get(key);
  }

  /** Entries of all ports of a Service. */
  entriesOf(service: ServiceKey): readonly ForwardingEntry[] {
    return (this.portsOf.get(service) ?? []).map((key) => this.entriesByKey.get(key)!);
  }

  /** Computes the entries of the given Services again. Cost depends on them, not on the size of the table. */
  update(
    state: ClusterState,
    services: Iterable<ServiceKey>,
    context: ForwardingContext,
  ): readonly ForwardingChange[] {
    const changes: ForwardingChange[] = [];
    for (const key of services instanceof Set ? (services as ReadonlySet<ServiceKey>) : new Set(services)) {
      const service = state.service(key);
      if (service?.clusterIPs[context.family] === undefined && !this.portsOf.has(key)) continue;
      const entries = service
        ? forwardService(service, (port) => state.endpoints(key, context.family, port), context)
        : [];
      const keys = entries.map((entry) => entry.key);
      const formerKeys = this.portsOf.get(key);
      for (const former of formerKeys ?? []) {
        if (keys.includes(former)) continue;
        const previous = this.entriesByKey.get(former);
        this.count(previous, -1);
        this.entriesByKey.delete(former);
        changes.push({ key: former, entry: undefined, former: previous });
      }
      for (const entry of entries) {
        const previous = formerKeys && this.entriesByKey.get(entry.key);
        this.count(previous, -1);
        this.count(entry, 1);
        this.entriesByKey.set(entry.key, entry);
        changes.push({ key: entry.key, entry, former: previous });
      }
      if (keys.length > 0) this.portsOf.set(key, keys);
      else this.portsOf.delete(key);
    }
    return changes;
  }

  private count(entry: ForwardingEntry | undefined, step: number): void {
    if (!entry?.endpoints.hasAny || entry.endpoints.local?.length) return;
    if (!entry.internalPolicyLocal && !entry.externalPolicyLocal) return;
    const { internal, external } = this.lacking;
    this.lacking = {
      internal: internal + (entry.internalPolicyLocal ? step : 0),
      external: external + (entry.externalPolicyLocal ? step : 0),
    };
  }
}
