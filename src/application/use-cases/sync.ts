import type { ConnectionFindings, ForwardingContext } from '../../domain/forwarding/forward-service.js';
import { ForwardingTable, type ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import {
  FRONTENDS_OF_IPTABLES_AT_ONCE,
  UncomputedServices,
} from '../../domain/forwarding/uncomputed-services.js';
import { WaitingChanges } from '../../domain/forwarding/waiting-changes.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { type ServiceKey, serviceOf } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { DequeuedChanges } from '../../domain/state/pending-changes.js';
import {
  mergeResults,
  NOTHING_APPLIED,
  type ApplyResult,
  type Backend,
  type VerificationKind,
  type VerifyResult,
} from '../ports/backend.js';
import type { Clock } from '../ports/clock.js';
import type { ForwardingListener } from '../ports/forwarding-listener.js';
import type { Logger } from '../ports/logger.js';
import type { ProgrammedChanges } from '../ports/sync-observer.js';
import type { ServiceStatuses } from '../status/service-statuses.js';
import { ServicePortOutcomes } from '../sync/service-port-outcomes.js';
import type { Service } from '../../domain/model/service.js';

/** Inputs of the rules of a family besides services. */
export interface FamilyContext {
  readonly forwarding: ForwardingContext;
  readonly network: NodeNetwork;
}

/** The input of one call of the backend. */
type Call = FamilyContext & { readonly signal: AbortSignal | undefined };

/**
 * Use case Sync, of one family: turns changes of the cluster into a changed forwarding table and has the backend program it. The first
 * time, and after the backend failed as a whole, it programs everything. A Service with very many ports takes several calls.
 */
export class Sync {
  readonly table: ForwardingTable;
  private readonly waiting = new WaitingChanges();
  /** Services that have changed, and whose entries have not been computed since. */
  private readonly uncomputed: UncomputedServices;
  readonly outcomes: ServicePortOutcomes;
  private started = false;
  /** The node of the last call of the backend. */
  private network: NodeNetwork | undefined;
  /** Everything in the source has been read at least once, so unexplained rules are known to be unneeded. */
  private sawEverything = false;

  constructor(
    private readonly state: ClusterState,
    private readonly backend: Backend,
    private readonly contexts: { of(family: IpFamily, refresh: boolean): FamilyContext },
    private readonly statuses: ServiceStatuses,
    clock: Clock,
    private readonly logger: Logger,
    private readonly listener?: ForwardingListener,
    /** Currently unreadable parts of the source. */
    private readonly unread: () => readonly string[] = () => [],
    findings?: ConnectionFindings,
    /** Objects that it delivered and that are ignored, as they are invalid. */
    private readonly ignored: () => readonly string[] = () => [],
  ) {
    this.table = new ForwardingTable(findings);
    this.uncomputed = new UncomputedServices(
      state,
      this.family,
      (service) => this.table.entriesOf(service),
      backend.mode === 'iptables' ? FRONTENDS_OF_IPTABLES_AT_ONCE : undefined,
    );
    this.outcomes = new ServicePortOutcomes(this.family, this.table, statuses, clock, logger);
  }

  get family() {
    return this.backend.family;
  }

  /** Whether changes of this Service, or of any, are left for the next call of `program`. */
  isBehind(service?: ServiceKey): boolean {
    if (service === undefined) return !this.waiting.empty || !this.uncomputed.empty;
    return this.waiting.includes(service) || this.uncomputed.includes(service);
  }

  /**
   * Rejects if the backend failed as a whole; the next call then programs everything again.
   * @param signal ends a long recovery early
   */
  async program(changes: DequeuedChanges, signal?: AbortSignal): Promise<ProgrammedChanges> {
    const { forwarding, network } = this.contexts.of(this.family, changes.node || changes.everyService);
    const call: Call = { forwarding, network, signal };
    const full = this.programsEverything;
    this.logger
      .verbose?.(4)
      ?.debug({ family: this.family, full, services: changes.services.size }, 'Calling Sync');
    const programmed = await (full ? this.startBackend(call) : this.applyChanges(changes, call));
    const { changed, failed, lost } = programmed;
    this.outcomes.record(changed, programmed);
    this.listener?.programmed({
      changes: changed,
      failed: new Set(failed.map(({ key }) => key)),
      network,
      ...(lost && { lost }),
    });
    return programmed;
  }

  /** Whether the next call of `program` programs everything. */
  get programsEverything(): boolean {
    return !this.started || this.canForgetUnexplained;
  }

  /** Unexplained rules are kept, but everything has been read by now: the next sync may remove them. */
  get canForgetUnexplained(): boolean {
    return this.started && !this.sawEverything && this.unreadObjects.length === 0;
  }

  /** Objects that could not be read or used since the start, for people. They are the reason for keeping unexplained rules. */
  get unreadObjects(): readonly string[] {
    return this.sawEverything ? [] : [...this.unread(), ...this.ignored()];
  }

  /** The part of it that could not be read. */
  get unreadSources(): readonly string[] {
    return this.sawEverything ? [] : this.unread();
  }

  /** Has the backend compare and repair what is programmed. Rejects if it cannot. */
  async verify(how: VerificationKind, signal: AbortSignal): Promise<VerifyResult> {
    const result = await this.backend.verify(how, signal);
    this.outcomes.record([], result);
    const { written, lost = [] } = result;
    if (written > 0 || lost.length > 0) this.listener?.repaired?.(lost);
    return result;
  }

  /**
   * How the kernel differs from the last programmed state; undefined if the backend cannot compare. Changes nothing.
   * @throws if nothing has been programmed yet, or the kernel cannot be read; the signal's reason when it is aborted
   */
  async differences(signal: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    if (!this.started)
      throw new Error('nothing has been programmed yet; `kubeproxy status` shows the missing input');
    return this.backend.differences?.(signal);
  }

  private async startBackend(call: Call): Promise<ProgrammedChanges> {
    const { network, forwarding, signal } = call;
    const unreadObjects = this.unreadObjects;
    const keepUnexplained = unreadObjects.length > 0;
    if (keepUnexplained)
      this.logger.warn(
        { family: this.family, unread: unreadObjects.length, first: unreadObjects[0] },
        'some objects cannot be read or are invalid; rules of unknown service ports stay until that is fixed',
      );
    const all = this.allServices();
    const services = keepUnexplained ? [...all].filter((service) => this.isExplained(service)) : all;
    this.table.update(this.state, services, forwarding);
    this.waiting.takeAll();
    this.uncomputed.clear();
    const result = await this.backend.start([...this.table.entries()], network, { keepUnexplained, signal });
    this.network = network;
    this.started = true;
    this.sawEverything = !keepUnexplained;
    const rest = keepUnexplained ? await this.programDeferred(call) : undefined;
    const changed = everyPort(this.table, this.statuses, this.family);
    return { ...(rest ? mergeResults(result, rest) : result), full: true, changed };
  }

  /** After the backend has its kept rules: Services without slices and without kept rules need not wait. */
  private async programDeferred(call: Call): Promise<ApplyResult | undefined> {
    const isFree = (key: ServiceKey): boolean => !this.table.has(key) && this.isExplained(key);
    const changes = this.table.update(
      this.state,
      [...this.state.serviceKeys()].filter(isFree),
      call.forwarding,
    );
    return changes.length === 0 ? undefined : this.apply(changes, call);
  }

  private async apply(changes: readonly ForwardingChange[], { network, signal }: Call): Promise<ApplyResult> {
    try {
      return await this.backend.apply(changes, network, signal);
    } catch (error) {
      this.started = false;
      throw error;
    }
  }

  private async applyChanges(
    { services, everyService }: DequeuedChanges,
    call: Call,
  ): Promise<ProgrammedChanges> {
    const { network, forwarding } = call;
    const ofServices = everyService ? undefined : services;
    const removals = failedRemovals(this.table, this.statuses, this.family, ofServices);
    const changes = everyService ? this.computeAll(forwarding) : this.computeNext(services, forwarding);
    // Only now, as what waits is not computed again: a removal is retried together with the port that replaces it.
    this.waiting.add(removals);
    this.waiting.add(changes);
    const before = this.network;
    const depend = before && network !== before && this.backend.rulesDependOn?.(before, network);
    const due = depend || everyService ? this.waiting.takeAll() : this.waiting.take();
    const changed = depend ? withEveryEntry(this.table, due) : due;
    // The last computed part is so large that it is programmed in the next call.
    if (changed.length === 0 && !this.waiting.empty && network === before)
      return { ...NOTHING_APPLIED, full: false, changed };
    this.network = network;
    this.listener?.programming?.(changed);
    return { ...(await this.apply(changed, call)), full: false, changed };
  }

  private computeAll(context: ForwardingContext): readonly ForwardingChange[] {
    this.uncomputed.clear();
    return this.table.update(
      this.state,
      [...this.allServices()].filter((key) => this.isExplained(key)),
      context,
    );
  }

  /** Computes what is due of these Services, and of those left before. The others follow in a later call, once, however often they change meanwhile. */
  private computeNext(
    services: Iterable<ServiceKey>,
    context: ForwardingContext,
  ): readonly ForwardingChange[] {
    for (const service of services)
      if (this.isExplained(service)) this.uncomputed.add(service);
      else this.uncomputed.delete(service);
    const parts = this.uncomputed.take((service) => this.waiting.includes(service));
    const { changes, limited } = this.table.updateParts(this.state, parts, context);
    for (const service of limited) this.uncomputed.add(service);
    return changes;
  }

  /** Endpoints of a Service without slices may be in what could not be read; if it has rules, it keeps them. */
  private isExplained(key: ServiceKey): boolean {
    if (this.sawEverything || this.state.hasSlices(key, this.family) || this.table.has(key)) return true;
    const service = this.state.service(key);
    return !service || (this.started && !mayKeepRulesOf(this.backend, service));
  }

  /** Services that exist, and removed ones that still have entries. */
  private *allServices(): Iterable<ServiceKey> {
    yield* this.state.serviceKeys();
    for (const service of this.table.services()) if (!this.state.service(service)) yield service;
  }
}

/** Whether the backend, started, may keep rules of the Service that no entry explains. */
function mayKeepRulesOf(backend: Backend, { namespace, name, ports }: Service): boolean {
  if (!backend.mayKeep) return true;
  return ports.some(({ name: port, protocol }) => backend.mayKeep!({ namespace, name, port, protocol }));
}

/** The changes, and every other entry of the table. */
function withEveryEntry(
  table: ForwardingTable,
  changes: readonly ForwardingChange[],
): readonly ForwardingChange[] {
  const gone = changes.filter(({ entry }) => !entry);
  return [...gone, ...Array.from(table.entries(), (entry) => ({ key: entry.key, entry }))];
}

/** As changes: all service ports, and those that were removed while nothing could be programmed. */
function everyPort(
  table: ForwardingTable,
  statuses: ServiceStatuses,
  family: IpFamily,
): readonly ForwardingChange[] {
  const present = [...table.entries()].map((entry) => ({ key: entry.key, entry }));
  const gone = statuses.keys(family).filter((key) => !table.entry(key));
  return [...gone.map((key) => ({ key, entry: undefined })), ...present];
}

/**
 * Removals that failed. The forwarding table no longer has these service ports; only their status shows that the kernel does.
 * @param services those of which they are wanted; undefined for all
 */
function failedRemovals(
  table: ForwardingTable,
  statuses: ServiceStatuses,
  family: IpFamily,
  services: ReadonlySet<ServiceKey> | undefined,
): readonly ForwardingChange[] {
  return statuses
    .failures(family)
    .filter(({ servicePort }) => !table.entry(servicePort) && (services?.has(serviceOf(servicePort)) ?? true))
    .map(({ servicePort }) => ({ key: servicePort, entry: undefined }));
}
