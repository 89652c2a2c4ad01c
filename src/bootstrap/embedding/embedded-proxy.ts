import type { TroubledPort } from '../../application/status/port-status.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Container } from '../injection/container.js';
import { LifeCycle } from '../life-cycle/life-cycle.js';
import type { ProxyParts } from '../parts/proxy-parts.js';

/** A service port that could not be programmed, with the family that it failed in. */
export interface UnservedPort extends TroubledPort {
  readonly family: IpFamily;
}

/**
 * A proxy inside another program: made, started, stopped. Between start and stop it follows its source and retries what
 * fails by itself. What backends have programmed stays when it is stopped.
 */
export class EmbeddedProxy {
  /** Rejects when the proxy cannot go on, since this node's Node object lacks what it needs; never resolves. */
  readonly failure: Promise<never>;
  private readonly life: LifeCycle;
  private readonly made: ProxyParts;

  /** @internal Made by {@link createProxy}. */
  constructor({ parts }: Container<ProxyParts>) {
    this.made = parts;
    this.failure = parts.ready.failure;
    this.life = new LifeCycle(parts.clock, parts.logger.child({ caller: 'life-cycle' }));
    this.life.add(...parts.running);
  }

  /** The families that it serves. */
  get families(): readonly IpFamily[] {
    return this.made.served.map(({ family }) => family);
  }

  /** What runs between start and stop, by name: in the order in which it starts, the reverse of the order in which it stops. */
  get parts(): readonly string[] {
    return this.life.names;
  }

  /**
   * To be called once. Rejects when the source cannot be started, or a server that was asked for with
   * `--bind-address-hard-fail`, or when `stop` is called meanwhile; what was started is stopped again then.
   */
  async start(): Promise<void> {
    await this.life.start();
  }

  /**
   * Resolves when every family has programmed, for the first time, what its source listed; service ports that failed alone
   * are among `unserved`. Rejects with the reasons when a family failed as a whole; it is retried all the same.
   */
  async programmed(): Promise<void> {
    const attempts = Promise.all(this.made.served.map(({ loop }) => loop.firstAttempt));
    const problems = (await Promise.race([attempts, this.failure])).flatMap((problem) => problem ?? []);
    if (problems.length > 0) throw new Error(`not programmed: ${problems.join('; ')}`);
  }

  /** Everything that the source has delivered is programmed, except service ports among `unserved`. */
  get inSync(): boolean {
    return this.made.served.every(({ loop }) => loop.inSync);
  }

  /** Service ports that could not be programmed. They are retried. */
  get unserved(): readonly UnservedPort[] {
    return this.families.flatMap((family) =>
      this.made.statuses.failures(family).map((failed) => ({ ...failed, family })),
    );
  }

  /** Stops what runs, then closes the backends. Never rejects; idempotent. */
  async stop(): Promise<void> {
    await this.life.stop();
  }
}
