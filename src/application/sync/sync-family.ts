import type { ForwardingContext } from '../../domain/forwarding/forward-service.js';
import { ForwardingTable, type ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { Node } from '../../domain/model/node.js';
import type { ServiceKey, ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { TakenChanges } from '../../domain/state/pending-changes.js';
import type { ApplyResult, Backend, ServiceFailure, VerifyResult } from '../ports/backend.js';
import type { Clock } from '../ports/clock.js';
import type { ForwardingListener } from '../ports/forwarding-listener.js';
import type { Logger } from '../ports/logger.js';
import { FrontendConflicts } from '../status/frontend-conflicts.js';
import { PreparedServices } from './prepared-services.js';
import type { ProgrammedStatus, ServiceStatuses } from '../status/service-statuses.js';

/** What decides about a family besides services. */
export interface FamilyContext {
  readonly forwarding: ForwardingContext;
  readonly network: NodeNetwork;
}

/** The outcome of programming one batch of changes. */
export interface ProgramResult {
  readonly full: boolean;
  readonly written: number;
  readonly failed: readonly ServicePortKey[];
}

/** What the backend made of its entries, and which of them that is about. */
interface Programmed {
  readonly result: ApplyResult;
  readonly changed: readonly ForwardingChange[];
}

/**
 * Use case Sync: turns changes of the cluster into a changed forwarding table and has the backend program it. The first
 * time, and after the backend failed as a whole, it programs everything.
 */
export class SyncFamily {
  readonly table = new ForwardingTable();
  private readonly conflicts = new FrontendConflicts();
  /** What the backend says of single service ports. */
  private readonly notes = new Map<ServicePortKey, string>();
  private readonly prepared = new PreparedServices();
  /** The Node for which entries were computed ahead last. */
  private preparedNode: Node | undefined;
  private prepares = true;
  private started = false;

  constructor(
    private readonly state: ClusterState,
    private readonly backend: Backend,
    private readonly contexts: { of(family: IpFamily, refresh: boolean): FamilyContext },
    private readonly statuses: ServiceStatuses,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly listener?: ForwardingListener,
  ) {}

  get family() {
    return this.backend.family;
  }

  /** How often in a row the service port could not be programmed. */
  attempts(key: ServicePortKey): number {
    const status = this.statuses.get(this.family, key);
    return status?.state === 'failed' ? status.attempts : 0;
  }

  /** Whether `prepare` may be called: the backend gains by it, and nothing is computed before the own Node is known. */
  get canPrepare(): boolean {
    return this.prepares && this.backend.prepare !== undefined && this.state.node !== undefined;
  }

  /**
   * Computes entries while others are still being read, and has the backend make them ready. A Service whose endpoints have
   * not come is left to the first sync, and so is everything when this fails. Never rejects.
   */
  async prepare(services: readonly ServiceKey[]): Promise<void> {
    try {
      await this.computeAhead(services);
    } catch (error) {
      this.prepares = false;
      this.logger.warn(
        { family: this.family, error },
        'nothing can be prepared; the first sync will take longer',
      );
    }
  }

  /** Rejects when the backend failed as a whole; the next call then programs everything again. */
  async program(changes: TakenChanges): Promise<ProgramResult> {
    const { forwarding, network } = this.contexts.of(this.family, changes.node || changes.everyService);
    const full = !this.started;
    const { result, changed } = full
      ? await this.startBackend(changes, network, forwarding)
      : await this.applyChanges(changes, network, forwarding);
    this.record(changed, result);
    const failed = new Set(result.failed.map(({ key }) => key));
    this.listener?.programmed({
      changes: changed,
      failed,
      network,
      ...(result.lost && { lost: result.lost }),
    });
    return { full, written: result.written, failed: [...failed] };
  }

  /** Whether the next call of `program` programs everything. */
  get startsAnew(): boolean {
    return !this.started;
  }

  /** Has the backend compare and repair what is programmed. Rejects when it cannot. */
  async verify(how: 'glance' | 'inspection', signal: AbortSignal): Promise<VerifyResult> {
    const result = await this.backend.verify(how, signal);
    this.record([], result);
    if (result.written > 0) this.listener?.repaired();
    return result;
  }

  private async computeAhead(services: readonly ServiceKey[]): Promise<void> {
    const { node } = this.state;
    const { forwarding, network } = this.contexts.of(this.family, node !== this.preparedNode);
    this.preparedNode = node;
    this.prepared.use(forwarding, services);
    const known = services.filter((service) => this.state.hasSlices(service));
    const changes = this.table.update(this.state, known, forwarding);
    for (const service of known) this.prepared.add(service);
    await this.backend.prepare?.(changes, network);
  }

  /** The table is computed while the backend goes through it, so that meanwhile its tools can read what the kernel has. */
  private async startBackend(
    { services }: TakenChanges,
    network: NodeNetwork,
    forwarding: ForwardingContext,
  ): Promise<Programmed> {
    this.prepared.use(forwarding, services);
    const rest = this.allServices().values();
    const entries = this.entriesAnew(rest, forwarding);
    let result: ApplyResult;
    try {
      result = await this.backend.start(entries, network);
    } finally {
      // A backend that fails may not have come to the end.
      this.table.update(this.state, rest, forwarding);
    }
    this.started = true;
    return { result, changed: this.everyPort() };
  }

  /** Computes the Services one after another, unless they are prepared. */
  private *entriesAnew(
    services: Iterable<ServiceKey>,
    forwarding: ForwardingContext,
  ): Generator<ForwardingEntry> {
    for (const key of services) {
      if (this.prepared.take(key)) yield* this.table.entriesOf(key);
      else for (const { entry } of this.table.update(this.state, [key], forwarding)) if (entry) yield entry;
    }
  }

  private async applyChanges(
    { services, everyService }: TakenChanges,
    network: NodeNetwork,
    forwarding: ForwardingContext,
  ): Promise<Programmed> {
    const concerned = everyService ? this.allServices() : services;
    const changed = this.table.update(this.state, concerned, forwarding);
    this.listener?.programming(changed);
    try {
      return { result: await this.backend.apply(changed, network), changed };
    } catch (error) {
      this.started = false;
      throw error;
    }
  }

  /** Those that have entries first: what is prepared for them is in this order. */
  private allServices(): readonly ServiceKey[] {
    const others = [...this.state.serviceKeys()].filter((service) => !this.table.has(service));
    return [...this.table.services(), ...others];
  }

  /** As changes: every service port that there is, and those that went while nothing could be programmed. */
  private everyPort(): readonly ForwardingChange[] {
    const present = [...this.table.entries()].map((entry) => ({ key: entry.key, entry }));
    const gone = this.statuses.keys(this.family).filter((key) => !this.table.entry(key));
    return [...gone.map((key) => ({ key, entry: undefined })), ...present];
  }

  /** Service ports that failed without having been asked for, as in a repair. */
  private alsoFailed(
    changed: readonly ForwardingChange[],
    failed: readonly ServiceFailure[],
  ): readonly ForwardingChange[] {
    if (failed.length === 0) return [];
    const known = new Set(changed.map(({ key }) => key));
    return failed
      .filter(({ key }) => !known.has(key))
      .map(({ key }) => ({ key, entry: this.table.entry(key) }));
  }

  private record(
    changed: readonly ForwardingChange[],
    { failed, conflicts, notes: ownNotes = [] }: ApplyResult,
  ): void {
    const { family } = this;
    const since = this.clock.now();
    const reasons = new Map(failed.map(({ key, reason }) => [key, reason]));
    const recorded = changed.flatMap(({ key }) => (reasons.has(key) ? [] : key));
    if (this.notes.size > 0) for (const key of recorded) this.notes.delete(key);
    for (const { key, note } of ownNotes) this.notes.set(key, note);
    const concerned = new Set(this.conflicts.update(recorded, conflicts));
    // One for all that are programmed as asked for: most are, and each status is kept.
    const plain: ProgrammedStatus = { state: 'programmed', since };
    for (const { key, entry } of [...changed, ...this.alsoFailed(changed, failed)]) {
      const reason = reasons.get(key);
      const previous = this.statuses.get(family, key);
      if (reason !== undefined) {
        const before = previous?.state === 'failed' ? previous : { since, attempts: 0 };
        const attempts = before.attempts + 1;
        this.statuses.set(family, key, { state: 'failed', since: before.since, reason, attempts });
        this.logger.error(
          { family, service: key, reason, attempts },
          'service port could not be programmed; it keeps what it had',
        );
      } else if (entry) {
        if (previous?.state === 'failed')
          this.logger.info({ family, service: key }, 'service port programmed after all');
        this.recordProgrammed(key, plain);
      } else {
        this.statuses.remove(family, key);
      }
      concerned.delete(key);
    }
    for (const key of concerned) {
      const status = this.statuses.get(family, key);
      if (status?.state === 'programmed')
        this.recordProgrammed(key, { state: 'programmed', since: status.since });
    }
  }

  private recordProgrammed(key: ServicePortKey, plain: ProgrammedStatus): void {
    const { family } = this;
    const held = this.conflicts.note(key);
    const own = this.notes.get(key);
    if (held === undefined && own === undefined) return this.statuses.set(family, key, plain);
    const note = [held, own].filter((text) => text !== undefined).join('; ');
    this.logger.warn({ family, service: key, note }, 'service port programmed otherwise than asked for');
    this.statuses.set(family, key, { ...plain, note });
  }
}
