import { SlotBudget } from '../balancing/slot-budget.js';
import { NOBODY_ASIDE } from '../failover/steps-aside.js';
import {
  serviceOf,
  type Protocol,
  type ServiceKey,
  type ServicePortKey,
} from '../model/service-port-name.js';
import type { ClusterState } from '../state/cluster-state.js';
import type { Service, ServicePortSpec } from '../model/service.js';
import { EndpointBudget } from './endpoint-budget.js';
import { findEntry } from './find-entry.js';
import { forwardService, type ForwardingContext } from './forward-service.js';
import type { ForwardingEntry, Frontend } from './forwarding-entry.js';
import { FrontendClaims } from './frontend-claims.js';
import { balanced, slotDemand } from './slot-tables.js';

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
  private readonly entriesByService = new Map<ServiceKey, readonly ForwardingEntry[]>();
  private readonly budget = new SlotBudget();
  private readonly endpoints = new EndpointBudget();
  private readonly claims = new FrontendClaims((key) => this.entry(key));
  private count = 0;
  private lacking = { internal: 0, external: 0 };

  /** @param stepsAside who steps aside, as of each time that entries are computed */
  constructor(private readonly stepsAside = NOBODY_ASIDE) {}

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
    return this.count;
  }

  *entries(): Iterable<ForwardingEntry> {
    for (const entries of this.entriesByService.values()) yield* entries;
  }

  /** Services that have entries. */
  services(): Iterable<ServiceKey> {
    return this.entriesByService.keys();
  }

  /** Whether the Service has entries. */
  has(service: ServiceKey): boolean {
    return this.entriesByService.has(service);
  }

  entry(key: ServicePortKey): ForwardingEntry | undefined {
    return findEntry(this.entriesOf(serviceOf(key)), key);
  }

  /** Entries of all ports of a Service. */
  entriesOf(service: ServiceKey): readonly ForwardingEntry[] {
    return this.entriesByService.get(service) ?? NO_ENTRIES;
  }

  /** The tables of slots of these entries. */
  get slots(): Pick<SlotBudget, 'used' | 'deniedServices'> {
    return this.budget;
  }

  /** What is at this address instead of a Service, for people; undefined if it is not reserved. */
  reservedFor(protocol: Protocol, frontend: Pick<Frontend, 'address' | 'port'>): string | undefined {
    return this.claims.reservedFor(protocol, frontend);
  }

  /** The service port that is served at this address; undefined if none is, as where it is reserved. */
  ownerOf(protocol: Protocol, frontend: Pick<Frontend, 'address' | 'port'>): ServicePortKey | undefined {
    return this.claims.ownerOf(protocol, frontend);
  }

  /**
   * Computes the entries of the given Services again. Cost depends on them, not on the size of the table. The changes include those
   * of Services for whose tables there is room now, or no longer, and of service ports to which a frontend comes, or from which it goes.
   * @param services each once
   */
  update(
    state: ClusterState,
    services: Iterable<ServiceKey>,
    context: ForwardingContext,
  ): readonly ForwardingChange[] {
    const formerEntries = new Map<ServiceKey, readonly ForwardingEntry[]>();
    const affected = new Set<ServicePortKey>();
    this.claims.reserve(context.reserved, affected);
    for (const key of this.withLimited(state, services, context)) {
      const former = this.entriesOf(key);
      const service = state.service(key);
      if (service?.clusterIPs[context.family] === undefined && former.length === 0) continue;
      const entries = service ? this.forwarded(state, key, service, context) : NO_ENTRIES;
      formerEntries.set(key, former);
      this.put(key, entries);
      this.claims.replace(former, entries, affected);
      if (context.usesSlots) this.budget.request(key, slotDemand(entries));
    }
    for (const key of this.budget.decide())
      if (!formerEntries.has(key)) formerEntries.set(key, this.entriesOf(key));
    const changes = [...formerEntries].flatMap(([key, former]) => this.changesOf(key, former));
    for (const key of new Set(Array.from(affected, serviceOf)))
      if (!formerEntries.has(key)) changes.push(...this.grant(key, affected));
    return changes;
  }

  /** These Services, and those that may have another number of endpoints now. */
  private withLimited(
    state: ClusterState,
    services: Iterable<ServiceKey>,
    { family }: ForwardingContext,
  ): ReadonlySet<ServiceKey> {
    const due = new Set(services);
    for (const key of due) {
      const service = state.service(key);
      const counts = state.endpointCounts(key, family);
      const served = service?.clusterIPs[family] === undefined ? undefined : service;
      const endpoints = served?.ports.reduce(
        (sum, port) =>
          sum + frontendCount(served, port) * counts({ port: port.name, protocol: port.protocol }),
        0,
      );
      const least = served ? frontendsOf(served) : 0;
      this.endpoints.request(key, { endpoints: endpoints ?? 0, least, createdAt: service?.createdAt });
    }
    for (const key of this.endpoints.decide()) due.add(key);
    return due;
  }

  private forwarded(
    state: ClusterState,
    key: ServiceKey,
    service: Service,
    context: ForwardingContext,
  ): readonly ForwardingEntry[] {
    const { family } = context;
    const limit = this.endpoints.limitOf(key);
    if (limit === undefined)
      return forwardService(service, state.endpointsByPort(key, family), context, this.stepsAside);
    const most = Math.max(1, Math.floor(limit / frontendsOf(service)));
    const counts = state.endpointCounts(key, family);
    const entries = forwardService(
      service,
      state.endpointsByPort(key, family, most),
      context,
      this.stepsAside,
    );
    return entries.map((entry, index) => {
      const knownEndpoints = counts(entry.name);
      return index === 0 ? { ...entry, knownEndpoints, mostEndpoints: most } : { ...entry, knownEndpoints };
    });
  }

  private put(key: ServiceKey, entries: readonly ForwardingEntry[]): void {
    const former = this.entriesOf(key);
    for (const previous of former) this.countLacking(previous, -1);
    for (const entry of entries) this.countLacking(entry, 1);
    this.count += entries.length - former.length;
    if (entries.length > 0) this.entriesByService.set(key, entries);
    else this.entriesByService.delete(key);
  }

  /** Gives these entries of a Service the frontends that they own by now. */
  private grant(key: ServiceKey, affected: ReadonlySet<ServicePortKey>): readonly ForwardingChange[] {
    const former = this.entriesOf(key);
    const entries = former.map((entry) => (affected.has(entry.key) ? this.claims.granted(entry) : entry));
    this.entriesByService.set(key, entries);
    return entries.flatMap((entry, index) =>
      entry === former[index] ? [] : [{ key: entry.key, entry, former: former[index] }],
    );
  }

  /** Balances the entries of a Service as there is room, and gives them the frontends that they own. */
  private changesOf(key: ServiceKey, former: readonly ForwardingEntry[]): readonly ForwardingChange[] {
    const entries = balanced(this.entriesOf(key), this.budget.reason(key)).map((entry) =>
      this.claims.granted(entry),
    );
    if (entries.length > 0) this.entriesByService.set(key, entries);
    const changes: ForwardingChange[] = former.flatMap((previous) =>
      findEntry(entries, previous.key) ? [] : [{ key: previous.key, entry: undefined, former: previous }],
    );
    for (const entry of entries)
      changes.push({ key: entry.key, entry, former: findEntry(former, entry.key) });
    return changes;
  }

  private countLacking(entry: ForwardingEntry, step: number): void {
    if (!entry.endpoints.hasAny || entry.endpoints.local?.length) return;
    if (!entry.internalPolicyLocal && !entry.externalPolicyLocal) return;
    const { internal, external } = this.lacking;
    this.lacking = {
      internal: internal + (entry.internalPolicyLocal ? step : 0),
      external: external + (entry.externalPolicyLocal ? step : 0),
    };
  }
}

function frontendsOf(service: Service): number {
  return service.ports.reduce((sum, port) => sum + frontendCount(service, port), 0);
}

function frontendCount({ externalIPs, loadBalancerIPs }: Service, { nodePort }: ServicePortSpec): number {
  return 1 + externalIPs.length + loadBalancerIPs.length + (nodePort === 0 ? 0 : 1);
}

const NO_ENTRIES: readonly ForwardingEntry[] = [];
