import type { ForwardingContext } from '../../domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { ForwardingTable, type ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServiceKey, ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { DequeuedChanges } from '../../domain/state/pending-changes.js';
import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  VerificationKind,
  VerifyResult,
} from '../ports/backend.js';
import type { Clock } from '../ports/clock.js';
import type { ForwardingListener } from '../ports/forwarding-listener.js';
import type { Logger } from '../ports/logger.js';
import { FrontendConflicts } from '../status/frontend-conflicts.js';
import type { ProgrammedStatus, ServiceStatuses } from '../status/service-statuses.js';

/** What the rules of a family depend on besides services. */
export interface FamilyContext {
  readonly forwarding: ForwardingContext;
  readonly network: NodeNetwork;
}

/** The outcome of programming one batch of changes. */
export interface ProgramResult {
  readonly full: boolean;
  readonly written: number;
  readonly failed: readonly ServicePortKey[];
  /** The changes that were to be programmed. */
  readonly changed: readonly ForwardingChange[];
}

/** The backend's result, and the changes that it is about. */
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
  /** The backend's notes on single service ports. */
  private readonly notes = new Map<ServicePortKey, string>();
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
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly listener?: ForwardingListener,
    /** What the source currently cannot read. */
    private readonly unread: () => readonly string[] = () => [],
  ) {}

  get family() {
    return this.backend.family;
  }

  /** How many times in a row the service port could not be programmed. */
  attempts(key: ServicePortKey): number {
    const status = this.statuses.get(this.family, key);
    return status?.state === 'failed' ? status.attempts : 0;
  }

  /** Rejects if the backend failed as a whole; the next call then programs everything again. */
  async program(changes: DequeuedChanges): Promise<ProgramResult> {
    const { forwarding, network } = this.contexts.of(this.family, changes.node || changes.everyService);
    const full = this.programsEverything;
    const { result, changed } = full
      ? await this.startBackend(network, forwarding)
      : await this.applyChanges(changes, network, forwarding);
    this.record(changed, result);
    const failed = new Set(result.failed.map(({ key }) => key));
    this.listener?.programmed({
      changes: changed,
      failed,
      network,
      ...(result.lost && { lost: result.lost }),
    });
    return { full, written: result.written, failed: [...failed], changed };
  }

  /** Whether the next call of `program` programs everything. */
  get programsEverything(): boolean {
    return !this.started || this.canForgetUnexplained;
  }

  /** Unexplained rules are kept, but everything has been read by now: the next sync may remove them. */
  get canForgetUnexplained(): boolean {
    return this.started && !this.sawEverything && this.unread().length === 0;
  }

  /** What could not be read since the start, for people. Unexplained rules are kept because of it. */
  get keptFor(): readonly string[] {
    return this.sawEverything ? [] : this.unread();
  }

  /** Has the backend compare and repair what is programmed. Rejects if it cannot. */
  async verify(how: VerificationKind, signal: AbortSignal): Promise<VerifyResult> {
    const result = await this.backend.verify(how, signal);
    this.record([], result);
    if (result.written > 0) this.listener?.repaired();
    return result;
  }

  /**
   * What the kernel has otherwise than was programmed last; undefined if the backend cannot tell. Changes nothing.
   * @throws if nothing has been programmed yet, or the kernel cannot be read; the signal's reason when it is aborted
   */
  async differences(signal: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    if (!this.started)
      throw new Error('nothing has been programmed yet; `kubeproxy status` shows what that waits for');
    return this.backend.differences?.(signal);
  }

  private async startBackend(network: NodeNetwork, forwarding: ForwardingContext): Promise<Programmed> {
    const keptFor = this.keptFor;
    const keepUnexplained = keptFor.length > 0;
    if (keepUnexplained)
      this.logger.warn(
        { family: this.family, unread: keptFor.length, first: keptFor[0] },
        'some objects could not be read; keeping rules that no known Service explains until they can',
      );
    const all = this.allServices();
    const services = keepUnexplained ? [...all].filter((service) => this.isExplained(service)) : all;
    this.table.update(this.state, services, forwarding);
    const result = await this.backend.start([...this.table.entries()], network, { keepUnexplained });
    this.network = network;
    this.started = true;
    this.sawEverything = !keepUnexplained;
    return { result, changed: this.everyPort() };
  }

  private async applyChanges(
    { services, everyService }: DequeuedChanges,
    network: NodeNetwork,
    forwarding: ForwardingContext,
  ): Promise<Programmed> {
    const all = everyService ? this.allServices() : services;
    const concerned = this.sawEverything ? all : [...all].filter((service) => this.isExplained(service));
    const updated = this.table.update(this.state, concerned, forwarding);
    const changed = this.rulesDependOn(network) ? withEveryEntry(this.table, updated) : updated;
    this.network = network;
    this.listener?.programming(changed);
    try {
      return { result: await this.backend.apply(changed, network), changed };
    } catch (error) {
      this.started = false;
      throw error;
    }
  }

  private rulesDependOn(network: NodeNetwork): boolean {
    if (!this.network || network === this.network) return false;
    return this.backend.rulesDependOn?.(this.network, network) ?? false;
  }

  /** Endpoints of a Service without slices may be in what could not be read; the Service keeps its rules. */
  private isExplained(service: ServiceKey): boolean {
    return this.state.hasSlices(service) || this.table.has(service) || !this.state.service(service);
  }

  /** Services that exist, and removed ones that still have entries. */
  private *allServices(): Iterable<ServiceKey> {
    yield* this.state.serviceKeys();
    for (const service of this.table.services()) if (!this.state.service(service)) yield service;
  }

  /** As changes: all service ports, and those that were removed while nothing could be programmed. */
  private everyPort(): readonly ForwardingChange[] {
    const present = [...this.table.entries()].map((entry) => ({ key: entry.key, entry }));
    const gone = this.statuses.keys(this.family).filter((key) => !this.table.entry(key));
    return [...gone.map((key) => ({ key, entry: undefined })), ...present];
  }

  /** Service ports that failed without being among the changes, as in a repair. */
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
    // One object for all that are programmed without deviations, to save memory: that is most of them.
    const plain: ProgrammedStatus = { state: 'programmed', since };
    const deviates = this.conflicts.size > 0 || this.notes.size > 0;
    if (!deviates && failed.length === 0 && conflicts.length === 0 && ownNotes.length === 0) {
      for (const { key, entry } of changed) this.succeeded(key, entry, plain);
      return;
    }
    const reasons = new Map(failed.map(({ key, reason }) => [key, reason]));
    const recorded = changed.flatMap(({ key }) => (reasons.has(key) ? [] : key));
    for (const key of recorded) this.notes.delete(key);
    for (const { key, note } of ownNotes) this.notes.set(key, note);
    const concerned = new Set(this.conflicts.update(recorded, conflicts));
    for (const { key, entry } of [...changed, ...this.alsoFailed(changed, failed)]) {
      const reason = reasons.get(key);
      if (reason === undefined) this.succeeded(key, entry, plain);
      else this.failed(key, reason, since);
      concerned.delete(key);
    }
    for (const key of concerned) {
      const status = this.statuses.get(family, key);
      if (status?.state === 'programmed')
        this.recordProgrammed(key, { state: 'programmed', since: status.since });
    }
  }

  private failed(key: ServicePortKey, reason: string, now: number): void {
    const { family } = this;
    const previous = this.statuses.get(family, key);
    const { since, attempts } = previous?.state === 'failed' ? previous : { since: now, attempts: 0 };
    this.statuses.set(family, key, { state: 'failed', since, reason, attempts: attempts + 1 });
    this.logger.error(
      { family, service: key, reason, attempts: attempts + 1 },
      'cannot program the service port; keeping its last good rules',
    );
  }

  private succeeded(key: ServicePortKey, entry: ForwardingEntry | undefined, plain: ProgrammedStatus): void {
    const { family } = this;
    if (!entry) return this.statuses.remove(family, key);
    if (this.attempts(key) > 0) this.logger.info({ family, service: key }, 'service port programmed');
    this.recordProgrammed(key, plain);
  }

  private recordProgrammed(key: ServicePortKey, plain: ProgrammedStatus): void {
    const { family } = this;
    const held = this.conflicts.note(key);
    const own = this.notes.get(key);
    if (held === undefined && own === undefined) return this.statuses.set(family, key, plain);
    const note = [held, own].filter((text) => text !== undefined).join('; ');
    this.logger.warn({ family, service: key, note }, 'service port programmed with deviations');
    this.statuses.set(family, key, { ...plain, note });
  }
}

/** The changes, and every other entry of the table. */
function withEveryEntry(
  table: ForwardingTable,
  changes: readonly ForwardingChange[],
): readonly ForwardingChange[] {
  const gone = changes.filter(({ entry }) => !entry);
  return [...gone, ...Array.from(table.entries(), (entry) => ({ key: entry.key, entry }))];
}
