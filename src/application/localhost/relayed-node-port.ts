import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { localhostPlace } from '../../domain/forwarding/localhost-node-port.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { errorMessage } from '../error-message.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { NodePortRelay, OpenNodePort, RelayTarget } from '../ports/node/node-port-relay.js';
import { retryDelay, type RetryTimes } from '../sync/backoff.js';

/** Binding costs next to nothing, and whoever frees the port wants it to be served soon. */
const RETRIES: RetryTimes = { initial: 1_000, maximum: 5_000 };

/** Tells what limits a service port besides its rules; undefined: nothing any more. */
export type ReportProblem = (key: ServicePortKey, problem: string | undefined) => void;

/** What every node port needs. */
export interface RelayDependencies {
  readonly family: IpFamily;
  readonly relay: NodePortRelay;
  readonly metrics: Pick<Metrics, 'localhostListenerFailed'>;
  readonly report: ReportProblem;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The service port that has the node port, and where that leads. */
export type RelayedService = RelayTarget & { readonly key: ServicePortKey };

/**
 * One node port on localhost: *closed*, *open*, or, after it could not be opened, *waiting* to be tried again. It goes through
 * these one step at a time.
 */
export class RelayedNodePort {
  private wanted: RelayedService | undefined;
  private open: OpenNodePort | undefined;
  private failures = 0;
  private retry: Timer | undefined;
  /** The service port that the last failure was reported for. */
  private blamed: ServicePortKey | undefined;
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
    if (wanted?.key !== this.wanted?.key) this.forgive();
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
      this.forgive();
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
          'listening after all',
        );
      this.forgive();
    } catch (error) {
      metrics.localhostListenerFailed(family);
      this.failures++;
      this.retry = clock.after(retryDelay(this.failures, RETRIES), () => {
        this.retry = undefined;
        void this.continue();
      });
      // Another service port may have it by now; the next attempt tells what becomes of that.
      if (this.wanted?.key !== wanted.key) return;
      this.blamed = wanted.key;
      report(wanted.key, errorMessage(error));
    }
  }

  /** The next attempt is due at once, and nobody lacks anything so far. */
  private forgive(): void {
    this.retry?.cancel();
    this.retry = undefined;
    this.failures = 0;
    if (this.blamed !== undefined) this.dependencies.report(this.blamed, undefined);
    this.blamed = undefined;
  }
}
