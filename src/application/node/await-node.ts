import type { Node } from '../../domain/model/node.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { CheckNode } from './check-node.js';

/** How long to wait for what the own Node must say, in milliseconds. */
export interface NodePatience {
  /** For the Node to exist and have an address. */
  readonly node: number;
  /** For its podCIDRs, after that, where local traffic is told by them. */
  readonly podCIDRs: number;
}

/** As kube-proxy waits (docs/spec/server.md §2). */
export const CLUSTER_PATIENCE: NodePatience = { node: 30_000, podCIDRs: 300_000 };
/** Where what is not there at the start is not being made. */
export const NO_PATIENCE: NodePatience = { node: 0, podCIDRs: 0 };

/** The own Node does not say what the rules need. */
class NodeNotReadyError extends Error {
  override readonly name = 'NodeNotReadyError';
}

/**
 * Use case AwaitNode: holds the first sync back until the own Node says what rules are made from.
 *
 * It is listing until the lists have arrived, however long that takes. Then it waits for the Node to exist and to
 * have an address; when that takes too long, it tells so and goes on, since services work without: `primary` means all
 * local addresses then. Where local traffic is told by podCIDRs it waits for these too, and gives up without. At last
 * Node and configuration are checked against each other, and it is over: what the Node says later is only checked.
 */
export class AwaitNode {
  private state: 'listing' | 'for node' | 'for podCIDRs' | 'over' = 'listing';
  private timer: Timer | undefined;
  private resolve!: () => void;
  private reject!: (error: unknown) => void;
  /** Resolves when rules may be made; rejects with NodeNotReadyError or NodeMismatchError when they never may. */
  readonly ready = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor(
    private readonly nodeName: string,
    private readonly needsPodCIDRs: boolean,
    private readonly patience: NodePatience,
    private readonly node: () => Node | undefined,
    private readonly checks: Pick<CheckNode, 'atStart' | 'again'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    // Whoever waits is told; nobody need wait.
    this.ready.catch(() => {});
  }

  /** The first lists have been delivered, that of the Node among them. Idempotent. */
  listed(): void {
    if (this.state !== 'listing') return;
    this.state = 'for node';
    if (this.hasAddress()) return this.awaitPodCIDRs();
    if (this.patience.node > 0)
      this.logger.info({ node: this.nodeName }, 'waiting for the own Node to exist and to have an address');
    this.wait(this.patience.node, () => {
      const problem = this.node() ? 'the own Node has no address' : 'the own Node does not exist';
      this.logger.error(
        { node: this.nodeName, problem },
        'going on without the address of the node; it is followed when it comes',
      );
      this.awaitPodCIDRs();
    });
  }

  /** The Node has been added or changed. */
  changed(): void {
    if (this.state === 'over') this.checks.again();
    else if (this.state === 'for node' && this.hasAddress()) this.awaitPodCIDRs();
    else if (this.state === 'for podCIDRs' && this.hasPodCIDRs()) this.finish();
  }

  /** Ends waiting; `ready` may stay open. Idempotent. */
  stop(): void {
    this.state = 'over';
    this.timer?.cancel();
  }

  private awaitPodCIDRs(): void {
    this.timer?.cancel();
    if (!this.needsPodCIDRs || this.hasPodCIDRs()) return this.finish();
    this.state = 'for podCIDRs';
    if (this.patience.podCIDRs > 0)
      this.logger.info({ node: this.nodeName }, 'waiting for the podCIDRs of the own Node');
    this.wait(this.patience.podCIDRs, () => {
      const problem = this.node()
        ? `timeout waiting for PodCIDR allocation on node "${this.nodeName}"`
        : `timeout waiting for node "${this.nodeName}" to exist`;
      this.stop();
      this.reject(new NodeNotReadyError(problem));
    });
  }

  private wait(milliseconds: number, callback: () => void): void {
    if (milliseconds > 0) this.timer = this.clock.after(milliseconds, callback);
    else callback();
  }

  private finish(): void {
    this.stop();
    try {
      this.checks.atStart();
      this.resolve();
    } catch (error) {
      this.reject(error);
    }
  }

  private hasAddress(): boolean {
    return (this.node()?.ips.length ?? 0) > 0;
  }

  private hasPodCIDRs(): boolean {
    return (this.node()?.podCIDRs.length ?? 0) > 0;
  }
}
