import { DesiredFlows, type StaleReason } from '../../domain/conntrack/desired-flows.js';
import { Doubts } from '../../domain/conntrack/doubts.js';
import { udpServicePort, type UdpServicePort } from '../../domain/conntrack/udp-service-port.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { isLoopback } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock, Timer } from '../ports/clock.js';
import { ConntrackUnavailableError, type Conntrack } from '../ports/conntrack.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';
import type { LocalAddresses } from '../ports/local-addresses.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import { retryDelay } from '../sync/backoff.js';

/** The longest pause between two reconciliations, in milliseconds. */
const LONGEST_PAUSE = 1_000;

/**
 * Use case ReconcileConntrack: removes the tracked UDP flows of one family that the rules would no longer make, so that
 * clients which keep their socket get to an endpoint that lives. Other protocols notice by themselves.
 *
 * It listens to what was programmed and is idle until that puts flows in doubt; the first time, and after the rules had
 * to be repaired, all of them. Of frontends that went while no proxy ran it knows by the rules that were left. Then it
 * is scheduled: at once, or after a pause as long as the last reconciliation took. While it runs syncs go on, and flows
 * are judged by what is programmed, or on its way, at that moment; doubts that come meanwhile are settled in the next run. One that fails keeps its doubts and is repeated after a backoff, soon when others come. When
 * the table cannot be reached at all it says so once and is off for good. Stopping ends what is under way.
 */
export class ReconcileConntrack implements ForwardingListener {
  private state: 'idle' | 'scheduled' | 'running' | 'off' = 'idle';
  private readonly desired = new DesiredFlows();
  private doubts = new Doubts();
  private network: NodeNetwork | undefined;
  private timer: Timer | undefined;
  private work: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();
  private pauseUntil = 0;
  private failures = 0;
  private waiting: (() => void)[] = [];

  constructor(
    readonly family: IpFamily,
    private readonly conntrack: Conntrack,
    private readonly localAddresses: LocalAddresses,
    private readonly metrics: Pick<Metrics, 'conntrackReconciled'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly flowsOf: (entry: ForwardingEntry) => UdpServicePort | undefined = udpServicePort,
  ) {}

  programming(changes: readonly ForwardingChange[]): void {
    if (this.state === 'off') return;
    this.desired.expect(changes.flatMap(({ entry }) => (entry && this.flowsOf(entry)) ?? []));
  }

  programmed({ changes, failed, network, lost = [] }: Programmed): void {
    if (this.state === 'off') return;
    const doubts = new Doubts();
    this.desired.expect([]);
    for (const { key, entry } of changes)
      if (!failed.has(key)) this.desired.update(key, entry && this.flowsOf(entry), doubts);
    this.desired.frontendsLeft(lost, doubts);
    this.follow(network, doubts);
    this.doubt(doubts);
  }

  repaired(): void {
    const doubts = new Doubts();
    if (this.desired.size > 0) doubts.doubtEverything();
    this.doubt(doubts);
  }

  /** Resolves when nothing is in doubt, or the last attempt failed and the next one is far off. */
  settled(): Promise<void> {
    if (this.isSettled()) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.turnOff();
    this.stopping.abort();
    await this.work;
  }

  /** The first time everything is in doubt; later, when node ports answer elsewhere. */
  private follow(network: NodeNetwork, doubts: Doubts): void {
    const before = this.network;
    if (before && String(before.nodePortIPs) === String(network.nodePortIPs)) return;
    this.network = network;
    if (this.desired.size > 0) doubts.doubtEverything();
    if (!before || before.nodePortIPs === 'all' || network.nodePortIPs === 'all') return;
    const left = before.nodePortIPs.filter((address) => !network.nodePortIPs.includes(address));
    this.desired.nodePortsLeft(left, doubts);
  }

  private doubt(doubts: Doubts): void {
    if (doubts.empty || this.state === 'off') return;
    this.doubts.add(doubts);
    if (this.state === 'idle') this.schedule();
    else if (this.state === 'scheduled' && this.failures > 0) this.hasten();
  }

  private schedule(): void {
    this.state = 'scheduled';
    this.timer = this.clock.after(Math.max(0, this.pauseUntil - this.clock.now()), () => {
      this.work = this.run();
    });
  }

  /** What is new does not wait for the end of a long backoff. */
  private hasten(): void {
    this.timer?.cancel();
    this.pauseUntil = Math.min(this.pauseUntil, this.clock.now() + LONGEST_PAUSE);
    this.schedule();
  }

  private async run(): Promise<void> {
    this.state = 'running';
    const doubts = this.doubts;
    this.doubts = new Doubts();
    const start = this.clock.now();
    const problem = await this.attempt(doubts, start);
    if (this.isOff()) return;
    const now = this.clock.now();
    this.state = 'idle';
    if (problem === undefined) {
      this.failures = 0;
      this.pauseUntil = now + Math.min(LONGEST_PAUSE, now - start);
    } else {
      this.doubts.add(doubts);
      this.failures++;
      this.pauseUntil = now + retryDelay(this.failures);
      this.logger.warn(
        { family: this.family, error: problem, attempt: this.failures },
        'stale UDP flows could not be removed; will try again',
      );
    }
    if (!this.doubts.empty) this.schedule();
    if (this.isSettled()) this.tellSettled();
  }

  /** Why it has to be done again; undefined when it is done. */
  private async attempt(doubts: Doubts, start: number): Promise<unknown> {
    const { family } = this;
    const reasons: Partial<Record<StaleReason, number>> = {};
    let examined = 0;
    let deleted = 0;
    let problem: unknown;
    try {
      const local = this.nodePortAddresses();
      for (const query of doubts.queries()) {
        const swept = await this.conntrack.sweep(
          family,
          query,
          (flow) => {
            const reason = this.desired.judge(flow, (address) => local.has(address), doubts.lost);
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
        this.logger.warn({ family, error }, 'stale UDP flows will not be removed');
        this.turnOff();
        return undefined;
      }
      problem = error;
    }
    const milliseconds = this.clock.now() - start;
    this.metrics.conntrackReconciled(family, { seconds: milliseconds / 1000, deleted });
    const facts = { family, examined, deleted, ms: Math.round(milliseconds) };
    if (deleted > 0) this.logger.debug({ ...facts, reasons }, 'removed stale UDP flows');
    else this.logger.debug(facts, 'no stale UDP flows');
    return problem;
  }

  private nodePortAddresses(): ReadonlySet<string> {
    const listed = this.network?.nodePortIPs ?? [];
    if (listed !== 'all') return new Set(listed);
    const { family } = this;
    return new Set(this.localAddresses.list().filter((text) => !isLoopback({ family, text })));
  }

  private turnOff(): void {
    this.state = 'off';
    this.timer?.cancel();
    this.tellSettled();
  }

  private isSettled(): boolean {
    return this.state === 'idle' || this.state === 'off' || (this.state === 'scheduled' && this.failures > 0);
  }

  private tellSettled(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** A method, since the state changes while a run waits. */
  private isOff(): boolean {
    return this.state === 'off';
  }
}
