import type { Container } from 'inversify';
import type { FailedPort } from '../../application/status/service-statuses.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { SERVICE_STATUSES, SYNC_LOOPS } from '../identifiers.js';
import { Proxy } from '../proxy.js';

/** A service port that could not be programmed, with the family that it failed in. */
export interface UnservedPort extends FailedPort {
  readonly family: IpFamily;
}

/**
 * A proxy inside another program: made, started, stopped. Between start and stop it follows its source and retries what
 * fails by itself. What backends have programmed stays when it is stopped.
 */
export class EmbeddedProxy {
  private readonly proxy: Proxy;

  constructor(
    /** All parts, under the identifiers of this package. */
    readonly container: Container,
    /** The families that it serves. */
    readonly families: readonly IpFamily[],
  ) {
    this.proxy = new Proxy(container);
  }

  /** Rejects when the source cannot be started, or a server that was asked for with `--bind-address-hard-fail`. Once. */
  async start(): Promise<void> {
    await this.proxy.start();
  }

  /**
   * Resolves when every family has programmed, for the first time, what its source listed; service ports that failed alone
   * are among `unserved`. Rejects with the reasons when a family failed as a whole; it is tried again all the same.
   */
  async programmed(): Promise<void> {
    const attempts = Promise.all(this.container.get(SYNC_LOOPS).map((loop) => loop.firstAttempt));
    const problems = (await Promise.race([attempts, this.failure])).flatMap((problem) => problem ?? []);
    if (problems.length > 0) throw new Error(`not programmed: ${problems.join('; ')}`);
  }

  /** Rejects when the proxy cannot go on, since its Node does not say what it needs; never resolves. */
  get failure(): Promise<never> {
    return this.proxy.failure;
  }

  /** Everything that the source has delivered is programmed, but for service ports among `unserved`. */
  get settled(): boolean {
    return this.container.get(SYNC_LOOPS).every((loop) => loop.inSync);
  }

  /** Service ports that could not be programmed. They are tried again. */
  get unserved(): readonly UnservedPort[] {
    const statuses = this.container.get(SERVICE_STATUSES);
    return this.families.flatMap((family) =>
      statuses.failures(family).map((failed) => ({ ...failed, family })),
    );
  }

  /** Ends what runs, then closes the backends. Idempotent. */
  async stop(): Promise<void> {
    await this.proxy.stop();
  }
}
