import { LastingProblem } from '../message-rate.js';
import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import {
  DesiredFlows,
  type StaleReason,
  SuspectFlows,
  servicePortFlows,
  type ServicePortFlows,
} from '../../domain/conntrack/desired-flows.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { isLoopback } from '../../domain/net/address.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock, Timer } from '../ports/clock.js';
import { ConntrackUnavailableError, type Conntrack } from '../ports/node/conntrack.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';
import type { LocalAddresses } from '../ports/node/network.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import { retryDelay } from '../retries.js';

/** The longest pause between two reconciliations, in milliseconds. */
const LONGEST_PAUSE = 1_000;
/**
 * So long an endpoint has to answer what was on its way to it when its rules went, in milliseconds: many round trips, and
 * less than the second after which a client of TCP repeats its SYN.
 */
const TIME_TO_ANSWER = 200;
/** The longest that a stop waits for the last reconciliation, in milliseconds. */
const LONGEST_END = 1_000;

/**
 * Use case ReconcileConntrack: removes the tracked flows of one family and protocol that the current rules would not create,
 * so that the client's next packet reaches a live endpoint. Of UDP, whose clients may keep a socket for ever, those are all
 * flows; of other protocols the unreplied ones: connections that are being opened. Clients of established ones notice by
 * themselves, or have ResetDeadConnections.
 *
 * It follows what is programmed:
 * - *idle* until a change makes flows suspect. The first sync and a repair of the rules make all flows suspect. Frontends
 *   that were removed while no proxy ran are known from the rules of the earlier process. Flows that only count while they are
 *   unreplied become suspect a moment after the change: an endpoint that went from the rules but lives still answers what
 *   is on its way to it.
 * - *scheduled*: immediately, or after a pause as long as the last reconciliation.
 * - *running*, while syncs continue. Flows are judged by the rules that are in the kernel or being written at that moment.
 *   New suspects wait for the next run. A failed run keeps its suspects and is retried after a backoff, sooner when new
 *   suspects arrive.
 * - *off* for good when the table is unavailable, which is logged once, and after `stop`.
 */
export class ReconcileConntrack implements ForwardingListener {
  private state: 'idle' | 'scheduled' | 'running' | 'off' = 'idle';
  private readonly desired: DesiredFlows;
  private suspects = new SuspectFlows();
  private network: NodeNetwork | undefined;
  private timer: Timer | undefined;
  /** Of changes whose flows still have time to be answered. */
  private readonly answering = new Set<Timer>();
  private work: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private readonly unreplied: boolean;
  private pauseUntil = 0;
  private failures = 0;
  private readonly problem = new LastingProblem();
  private waiting: (() => void)[] = [];

  constructor(
    readonly family: IpFamily,
    readonly protocol: Protocol,
    private readonly conntrack: Conntrack,
    private readonly localAddresses: LocalAddresses,
    private readonly metrics: Pick<Metrics, 'conntrackReconciled'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly flowsOf: (entry: ForwardingEntry) => ServicePortFlows | undefined = servicePortFlows,
  ) {
    this.unreplied = protocol !== 'UDP';
    this.desired = new DesiredFlows(this.unreplied);
  }

  programming(changes: readonly ForwardingChange[]): void {
    // Before anything was programmed, no flow is judged.
    if (this.state === 'off' || !this.network) return;
    this.desired.expect(changes.flatMap(({ entry }) => this.judgedFlows(entry) ?? []));
  }

  programmed({ changes, failed, network, lost = [] }: Programmed): void {
    if (this.state === 'off') return;
    const suspects = new SuspectFlows();
    this.desired.expect([]);
    const isFirst = this.network === undefined;
    for (const { key, entry } of changes)
      if (!failed.has(key)) this.desired.update(key, this.judgedFlows(entry), isFirst ? undefined : suspects);
    if (this.protocol === 'UDP') this.desired.frontendsRemoved(lost, suspects);
    this.follow(network, suspects);
    this.suspect(suspects);
  }

  repaired(lost: readonly FrontendAddress[] = []): void {
    const suspects = new SuspectFlows();
    if (this.desired.size > 0) suspects.addAll();
    if (this.protocol === 'UDP') this.desired.frontendsRemoved(lost, suspects);
    this.suspect(suspects);
  }

  /** Resolves when no flow is suspect, or the last attempt failed and the next one waits for its backoff. */
  inSync(): Promise<void> {
    if (this.isInSync()) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Ends pending work if that is soon: the next process does not have the removed frontends. Idempotent. */
  async stop(): Promise<void> {
    const limit = this.clock.after(LONGEST_END, () => this.stopping.abort());
    await this.work;
    while (this.state === 'scheduled' && this.failures === 0 && !this.stopping.signal.aborted) {
      this.timer?.cancel();
      this.work = this.run();
      await this.work;
    }
    limit.cancel();
    this.turnOff();
    this.stopping.abort();
  }

  private judgedFlows(entry: ForwardingEntry | undefined): ServicePortFlows | undefined {
    return entry?.name.protocol === this.protocol ? this.flowsOf(entry) : undefined;
  }

  /** Suspects all flows at first, and whenever the addresses of node ports change. */
  private follow(network: NodeNetwork, suspects: SuspectFlows): void {
    const before = this.network;
    if (before === network) return;
    if (before && String(before.nodePortIPs) === String(network.nodePortIPs)) return;
    this.network = network;
    if (this.desired.size > 0) suspects.addAll();
    if (!before || before.nodePortIPs === 'all' || network.nodePortIPs === 'all') return;
    const removed = before.nodePortIPs.filter((address) => !network.nodePortIPs.includes(address));
    this.desired.nodePortAddressesRemoved(removed, suspects);
  }

  private suspect(suspects: SuspectFlows): void {
    if (suspects.empty || this.state === 'off') return;
    if (!this.unreplied) return this.examine(suspects);
    const timer = this.clock.after(TIME_TO_ANSWER, () => {
      this.answering.delete(timer);
      this.examine(suspects);
    });
    this.answering.add(timer);
  }

  private examine(suspects: SuspectFlows): void {
    this.suspects.merge(suspects);
    if (this.state === 'idle') this.schedule();
    else if (this.state === 'scheduled') this.hasten();
  }

  private schedule(): void {
    this.state = 'scheduled';
    this.timer = this.clock.after(Math.max(0, this.pauseUntil - this.clock.steady()), () => {
      this.work = this.run();
    });
  }

  /** New suspects do not wait for the end of a long backoff. */
  private hasten(): void {
    this.timer?.cancel();
    this.pauseUntil = Math.min(this.pauseUntil, this.clock.steady() + LONGEST_PAUSE);
    this.schedule();
  }

  private async run(): Promise<void> {
    this.state = 'running';
    const suspects = this.suspects;
    this.suspects = new SuspectFlows();
    const start = this.clock.steady();
    const problem = await this.attempt(suspects, start);
    if (this.isOff()) return;
    const now = this.clock.steady();
    this.state = 'idle';
    if (problem === undefined) {
      this.failures = 0;
      this.problem.end();
      this.pauseUntil = now + Math.min(LONGEST_PAUSE, now - start);
    } else {
      this.suspects.merge(suspects);
      this.failures++;
      this.pauseUntil = now + retryDelay(this.failures);
      this.logger[this.problem.level(problem, 'warn')](
        { family: this.family, error: problem, attempt: this.failures },
        `cannot remove stale ${this.protocol} flows; will retry`,
      );
    }
    if (!this.suspects.empty) this.schedule();
    if (this.isInSync()) this.resolveWaiting();
  }

  /** Returns why it must be retried; undefined when it is done. */
  private async attempt(suspects: SuspectFlows, start: number): Promise<unknown> {
    const { family, protocol, unreplied } = this;
    const reasons: Partial<Record<StaleReason, number>> = {};
    let examined = 0;
    let deleted = 0;
    let problem: unknown;
    try {
      const takesNodePorts = membership(this.nodePortAddresses());
      const isOwn = membership(this.localAddresses.list());
      for (const place of suspects.places()) {
        const swept = await this.conntrack.sweep(
          family,
          { ...place, protocol, unreplied },
          (flow) => {
            const reason = this.desired.judge(flow, takesNodePorts, suspects, isOwn);
            if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
            return reason !== undefined;
          },
          this.stopping.signal,
        );
        examined += swept.examined;
        deleted += swept.deleted;
        problem ??= swept.problem;
      }
    } catch (error) {
      if (this.stopping.signal.aborted) return undefined;
      if (error instanceof ConntrackUnavailableError) {
        this.logger.warn(
          { family, error },
          `connection tracking is unavailable; stale ${protocol} flows will not be removed`,
        );
        this.turnOff();
        return undefined;
      }
      problem = error;
    }
    const milliseconds = this.clock.steady() - start;
    this.metrics.conntrackReconciled(family, protocol, { seconds: milliseconds / 1000, deleted, reasons });
    const facts = { family, examined, deleted, ms: Math.round(milliseconds) };
    if (deleted > 0) this.logger.debug({ ...facts, reasons }, `removed stale ${protocol} flows`);
    else this.logger.debug(facts, `no stale ${protocol} flows`);
    return problem;
  }

  private nodePortAddresses(): readonly string[] {
    const { nodePortIPs = [], localhostNodePorts = false } = this.network ?? {};
    if (nodePortIPs !== 'all') return nodePortIPs;
    const { family } = this;
    const isServed = (text: string): boolean => localhostNodePorts || !isLoopback({ family, text });
    return this.localAddresses.list().filter(isServed);
  }

  private turnOff(): void {
    this.state = 'off';
    for (const timer of [this.timer, ...this.answering]) timer?.cancel();
    this.answering.clear();
    this.resolveWaiting();
  }

  private isInSync(): boolean {
    const { state, answering, failures } = this;
    if (answering.size > 0) return false;
    return state === 'idle' || state === 'off' || (state === 'scheduled' && failures > 0);
  }

  private resolveWaiting(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** A method, because the state changes while a run waits. */
  private isOff(): boolean {
    return this.state === 'off';
  }
}

function membership(texts: readonly string[]): (text: string) => boolean {
  const all = new Set(texts);
  return (text) => all.has(text);
}
