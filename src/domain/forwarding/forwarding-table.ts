import { SlotBudget } from '../balancing/slot-budget.js';
import {
  serviceOf,
  type Protocol,
  type ServiceKey,
  type ServicePortKey,
} from '../model/service-port-name.js';
import { grouped } from '../model/maps.js';
import type { ClusterState } from '../state/cluster-state.js';
import type { Service, ServicePortSpec } from '../model/service.js';
import { EndpointBudget } from './endpoint-budget.js';
import { findEntry, type ForwardingEntry, type Frontend } from './forwarding-entry.js';
import {
  forwardService,
  frontendCount,
  type ConnectionFindings,
  type ForwardingContext,
} from './forward-service.js';
import { FrontendClaims } from './frontend-claims.js';
import { balanced, slotDemand } from './slot-tables.js';

/** A service port whose entry was computed again, or is gone (`entry` undefined). */
export interface ForwardingChange {
  readonly key: ServicePortKey;
  readonly entry: ForwardingEntry | undefined;
  /** The entry before. Missing for a new service port, and where everything is programmed. */
  readonly former?: ForwardingEntry | undefined;
}

/** Ports of a Service whose entries are computed together. */
export interface ServicePart {
  readonly service: ServiceKey;
  /** Missing: all of them. */
  readonly portion?: PortPortion;
}

/**
 * Some ports of a Service, in its current version, and entries that go. After all its portions its entries are those of its ports. None of
 * them may have a table of slots, as ports share these.
 */
export interface PortPortion {
  readonly ports: readonly ServicePortSpec[];
  readonly gone: readonly ServicePortKey[];
  /** The Service may have another number of endpoints than when its other portions were computed. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** The entries that were computed of a Service, and those that they replace. */
interface Computed {
  readonly former: readonly ForwardingEntry[];
  /** Missing: all that the Service has. */
  readonly entries?: readonly ForwardingEntry[];
}

/**
 * The forwarding table of one family: an entry for each service port, kept up to date by what changed. Every backend,
 * plan and explain read it.
 */
export class ForwardingTable {
  private readonly entriesByService = new Map<ServiceKey, readonly ForwardingEntry[]>();
  private readonly budget = new SlotBudget();
  private readonly endpoints = new EndpointBudget();
  private readonly claims = new FrontendClaims(this);
  private count = 0;
  private lacking = { internal: 0, external: 0 };

  constructor(private readonly findings: ConnectionFindings = {}) {}

  /** Of all known Services, computed in one step. */
  static of(state: ClusterState, context: ForwardingContext): ForwardingTable {
    const table = new ForwardingTable();
    table.update(state, [...state.serviceKeys()].sort(), context);
    return table;
  }

  /** Service ports with a Local policy that have endpoints elsewhere, but none here (docs/internals/spec/model.md §5). */
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

  /** The reason why this address is reserved, for people; undefined if it is not. */
  reservedFor(protocol: Protocol, frontend: Pick<Frontend, 'address' | 'port'>): string | undefined {
    return this.claims.reservedFor(protocol, frontend);
  }

  /** The service port that is served at this address; undefined if none is, as where it is reserved. */
  ownerOf(protocol: Protocol, frontend: Pick<Frontend, 'address' | 'port'>): ServicePortKey | undefined {
    return this.claims.ownerOf(protocol, frontend);
  }

  /**
   * Computes the entries of the given Services again. Cost depends on them, not on the size of the table. The changes include those
   * of Services for whose tables there is space now, or no longer, and of service ports to which a frontend comes, or from which it goes.
   * @param services each once
   */
  update(
    state: ClusterState,
    services: Iterable<ServiceKey>,
    context: ForwardingContext,
  ): readonly ForwardingChange[] {
    const due = new Set(services);
    for (const key of due) this.countEndpoints(state, key, context);
    for (const key of this.endpoints.decide()) due.add(key);
    const parts = Array.from(due, (service): ServicePart => ({ service }));
    return this.compute(state, parts, context);
  }

  /**
   * As `update`, but of parts of Services. Those that may have another number of endpoints by now are not computed again: they
   * are returned as `limited`.
   * @param parts at most one of each Service
   */
  updateParts(
    state: ClusterState,
    parts: readonly ServicePart[],
    context: ForwardingContext,
  ): { readonly changes: readonly ForwardingChange[]; readonly limited: readonly ServiceKey[] } {
    const begun = new Set(parts.flatMap((part) => (part.portion?.isFirst === false ? [] : part.service)));
    for (const key of begun) this.countEndpoints(state, key, context);
    const limited = this.endpoints.decide().filter((key) => !begun.has(key));
    return { changes: this.compute(state, parts, context), limited };
  }

  private compute(
    state: ClusterState,
    parts: readonly ServicePart[],
    context: ForwardingContext,
  ): readonly ForwardingChange[] {
    const computed = new Map<ServiceKey, Computed>();
    const affected = new Set<ServicePortKey>();
    this.claims.reserve(context.reserved, affected);
    for (const { service: key, portion } of parts) {
      const service = state.service(key);
      if (service?.clusterIPs[context.family] === undefined && !this.has(key)) continue;
      const ports = portion?.ports ?? service?.ports ?? [];
      const entries = service ? this.forwarded(state, key, service, ports, context) : NO_ENTRIES;
      const former = this.replace(key, entries, portion);
      computed.set(key, portion ? { former, entries } : { former });
      this.countChanged(former, entries);
      this.claims.replace(former, entries, affected);
      if (context.usesSlots && !portion) this.budget.request(key, slotDemand(entries));
    }
    for (const key of this.budget.decide())
      if (!computed.has(key)) computed.set(key, { former: this.entriesOf(key) });
    const changes: ForwardingChange[] = [];
    for (const [key, { former, entries }] of computed)
      changes.push(...this.changesOf(key, former, entries ?? this.balance(key)));
    for (const { key } of changes) affected.delete(key);
    for (const [key, ports] of grouped(affected, serviceOf)) {
      const others = ports.flatMap((port) => this.entry(port) ?? []);
      changes.push(...this.changesOf(key, others, others));
    }
    return changes;
  }

  private countEndpoints(state: ClusterState, key: ServiceKey, { family }: ForwardingContext): void {
    const service = state.service(key);
    const counts = state.endpointCounts(key, family);
    const served = service?.clusterIPs[family] === undefined ? undefined : service;
    const endpoints = served?.ports.reduce(
      (sum, port) => sum + frontendCount(served, port) * counts({ port: port.name, protocol: port.protocol }),
      0,
    );
    const least = served ? frontendsOf(served) : 0;
    this.endpoints.request(key, { endpoints: endpoints ?? 0, least, createdAt: service?.createdAt });
  }

  private forwarded(
    state: ClusterState,
    key: ServiceKey,
    service: Service,
    ports: readonly ServicePortSpec[],
    context: ForwardingContext,
  ): readonly ForwardingEntry[] {
    const { family } = context;
    const limit = this.endpoints.limitOf(key);
    const part = ports === service.ports ? service : { ...service, ports };
    if (limit === undefined)
      return forwardService(part, state.endpointsByPort(key, family), context, this.findings);
    const most = Math.max(1, Math.floor(limit / frontendsOf(service)));
    const counts = state.endpointCounts(key, family);
    const entries = forwardService(part, state.endpointsByPort(key, family, most), context, this.findings);
    return entries.map((entry, index) => {
      const knownEndpoints = counts(entry.name);
      const isFirst = ports[index] === service.ports[0];
      return isFirst ? { ...entry, knownEndpoints, mostEndpoints: most } : { ...entry, knownEndpoints };
    });
  }

  private put(key: ServiceKey, entries: readonly ForwardingEntry[]): void {
    if (entries.length > 0) this.entriesByService.set(key, entries);
    else this.entriesByService.delete(key);
  }

  /** Returns the entries that these replace: those of the portion, else all of the Service. */
  private replace(
    key: ServiceKey,
    entries: readonly ForwardingEntry[],
    portion: PortPortion | undefined,
  ): readonly ForwardingEntry[] {
    const present = this.entriesOf(key);
    if (!portion) {
      this.put(key, entries);
      return present;
    }
    const keys = new Set([...portion.gone, ...entries.map((entry) => entry.key)]);
    this.put(key, [...present.filter((entry) => !keys.has(entry.key)), ...entries]);
    return present.filter((entry) => keys.has(entry.key));
  }

  /** Balances the entries of a Service as there is space for tables. */
  private balance(key: ServiceKey): readonly ForwardingEntry[] {
    const entries = balanced(this.entriesOf(key), this.budget.reason(key));
    this.put(key, entries);
    return entries;
  }

  /**
   * Gives entries of a Service the frontends that they own.
   * @param former the entries that these replace
   */
  private changesOf(
    key: ServiceKey,
    former: readonly ForwardingEntry[],
    entries: readonly ForwardingEntry[],
  ): readonly ForwardingChange[] {
    const granted = entries.map((entry) => this.claims.granted(entry));
    if (granted.some((entry, index) => entry !== entries[index]))
      this.put(
        key,
        this.entriesOf(key).map((entry) => findEntry(granted, entry.key) ?? entry),
      );
    const changes: ForwardingChange[] = former.flatMap((previous) =>
      findEntry(granted, previous.key) ? [] : [{ key: previous.key, entry: undefined, former: previous }],
    );
    for (const entry of granted) {
      const previous = findEntry(former, entry.key);
      if (entry !== previous) changes.push({ key: entry.key, entry, former: previous });
    }
    return changes;
  }

  private countChanged(former: readonly ForwardingEntry[], entries: readonly ForwardingEntry[]): void {
    for (const previous of former) this.countLacking(previous, -1);
    for (const entry of entries) this.countLacking(entry, 1);
    this.count += entries.length - former.length;
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

const NO_ENTRIES: readonly ForwardingEntry[] = [];
