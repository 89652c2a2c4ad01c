/** Node ports that the proxy itself serves on localhost. */

import {
  localhostNodePort,
  localhostPlace,
  type LocalhostNodePort,
} from '../../domain/forwarding/localhost-node-port.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { Claims } from '../../domain/reconcile/claims.js';
import { errorMessage } from '../error-message.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { NodePortRelay, OpenNodePort, RelayTarget } from '../ports/node/endpoint-connections.js';
import { retryDelay, type RetryTimes } from '../retries.js';

interface LocalhostNodePortsOptions extends RelayDependencies {
  readonly metrics: Pick<Metrics, 'localhostListenerFailed' | 'localhostListeners'>;
}

/** The dependencies of every node port. */
interface RelayDependencies {
  readonly family: IpFamily;
  readonly relay: NodePortRelay;
  readonly metrics: Pick<Metrics, 'localhostListenerFailed'>;
  readonly report: ReportProblem;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Reports what limits a service port besides its rules; undefined: nothing. */
export type ReportProblem = (key: ServicePortKey, problem: string | undefined) => void;

/** The service port that has the node port, and where that leads. */
type RelayedService = RelayTarget & { readonly key: ServicePortKey };

/**
 * Use case: serves the TCP node ports of one family on localhost by listeners of the proxy itself, while the node's network
 * requires it (docs/internals/spec/changes-1.37.md §4).
 *
 * It follows what is programmed: a node port listens once its service port is programmed and has an endpoint, and a service port
 * that failed to be programmed keeps its listener. If several service ports have the same node port, the alphabetically first
 * key gets it, as in the rules. A port that cannot be listened on is retried after a backoff, and its service port is degraded. `stop`
 * closes all.
 */
export class LocalhostNodePorts implements ForwardingListener {
  readonly family: IpFamily;
  private readonly programmedPorts = new Map<ServicePortKey, LocalhostNodePort>();
  private readonly claims = new Claims();
  /** Those that are open, or are to be opened or closed. */
  private readonly ports = new Map<number, RelayedNodePort>();
  private readonly open = new Set<RelayedNodePort>();
  private isRelayed = false;
  private stopped = false;

  constructor(private readonly options: LocalhostNodePortsOptions) {
    this.family = options.family;
  }

  programmed({ changes, failed, network }: Programmed): void {
    if (this.stopped) return;
    const touched = new Set<number>();
    for (const { key, entry } of changes)
      if (!failed.has(key)) this.note(key, entry && localhostNodePort(entry), touched);
    const isRelayed = network.loopbackNodePorts === 'relayed';
    if (isRelayed !== this.isRelayed) for (const { port } of this.programmedPorts.values()) touched.add(port);
    this.isRelayed = isRelayed;
    for (const port of touched) void this.follow(port);
    this.options.metrics.localhostListeners(this.family, this.open.size);
  }

  /** `LocalhostLookup`. */
  placeOf(key: ServicePortKey): string | undefined {
    const port = this.programmedPorts.get(key)?.port;
    const isListening =
      port !== undefined && this.ownerOf(port) === key && this.ports.get(port)?.isOpen === true;
    return isListening ? localhostPlace(this.family, port) : undefined;
  }

  /** Idempotent. Connections stay open. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.ports.keys()].map((port) => this.follow(port)));
  }

  private note(key: ServicePortKey, now: LocalhostNodePort | undefined, touched: Set<number>): void {
    const before = this.programmedPorts.get(key);
    if (before) {
      touched.add(before.port);
      this.programmedPorts.delete(key);
      this.claims.release(String(before.port), key);
    }
    if (!now) return;
    touched.add(now.port);
    this.programmedPorts.set(key, now);
    this.claims.claim(String(now.port), key);
  }

  private follow(port: number): Promise<void> {
    const wanted = this.wantedOn(port);
    let relayed = this.ports.get(port);
    if (!relayed) {
      if (!wanted) return Promise.resolve();
      relayed = new RelayedNodePort(port, this.options, (settled) => this.settled(port, settled));
      this.ports.set(port, relayed);
    }
    return relayed.follow(wanted);
  }

  private wantedOn(port: number): RelayedService | undefined {
    const key = this.ownerOf(port);
    if (key === undefined || !this.isRelayed || this.stopped) return undefined;
    const { endpoints, affinitySeconds } = this.programmedPorts.get(key)!;
    return endpoints.length > 0 ? { key, endpoints, affinitySeconds } : undefined;
  }

  private settled(port: number, relayed: RelayedNodePort): void {
    if (relayed.isOpen) this.open.add(relayed);
    else this.open.delete(relayed);
    if (relayed.isGone) this.ports.delete(port);
    this.options.metrics.localhostListeners(this.family, this.open.size);
  }

  private ownerOf(port: number): ServicePortKey | undefined {
    return this.claims.ownerOf(String(port));
  }
}

/** Short, because an attempt to bind is cheap and a port should be served soon after it is free. */
const RETRIES: RetryTimes = { initial: 1_000, maximum: 5_000 };

/**
 * One node port on localhost: *closed*, *open*, or, after it could not be opened, *waiting* to be tried again. It goes through
 * these one step at a time.
 */
class RelayedNodePort {
  private wanted: RelayedService | undefined;
  private open: OpenNodePort | undefined;
  private failures = 0;
  private retry: Timer | undefined;
  /** The service port that the last failure was reported for. */
  private reported: ServicePortKey | undefined;
  private work: Promise<void> = Promise.resolve();

  constructor(
    private readonly port: number,
    private readonly dependencies: RelayDependencies,
    /** Called when it has opened or closed, and when it has not. */
    private readonly settled: (port: RelayedNodePort) => void,
  ) {}

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** It is not wanted, and nothing of it is left. */
  get isGone(): boolean {
    return this.wanted === undefined && this.open === undefined;
  }

  /** @param wanted undefined: it is to be closed. Resolves when that is done. */
  follow(wanted: RelayedService | undefined): Promise<void> {
    if (wanted?.key !== this.wanted?.key) this.resetBackoff();
    this.wanted = wanted;
    return this.continue();
  }

  private continue(): Promise<void> {
    this.work = this.work.then(() => this.step());
    return this.work;
  }

  private async step(): Promise<void> {
    const { wanted, open } = this;
    if (!wanted) {
      this.resetBackoff();
      await open?.close();
      this.open = undefined;
    } else if (open) open.serve(wanted);
    else if (!this.retry) await this.listen(wanted);
    this.settled(this);
  }

  private async listen(wanted: RelayedService): Promise<void> {
    const { family, relay, logger, clock, metrics, report } = this.dependencies;
    try {
      this.open = await relay.listen(family, this.port, wanted);
      if (this.failures > 0)
        logger.info(
          { service: wanted.key, address: localhostPlace(family, this.port) },
          'listening on a node port on localhost again',
        );
      this.resetBackoff();
    } catch (error) {
      metrics.localhostListenerFailed(family);
      this.failures++;
      this.retry = clock.after(retryDelay(this.failures, RETRIES), () => {
        this.retry = undefined;
        void this.continue();
      });
      // Another service port may own it now; the next attempt reports its result.
      if (this.wanted?.key !== wanted.key) return;
      this.reported = wanted.key;
      report(wanted.key, errorMessage(error));
    }
  }

  /** The next attempt is due immediately, and the reported problem is withdrawn. */
  private resetBackoff(): void {
    this.retry?.cancel();
    this.retry = undefined;
    this.failures = 0;
    if (this.reported !== undefined) this.dependencies.report(this.reported, undefined);
    this.reported = undefined;
  }
}
