import type { Node } from '../../domain/model/node.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { CheckNode } from './check-node.js';
import { NamedError } from '../../domain/model/named-error.js';

/** How long to wait for this node's Node object. Milliseconds. */
export interface NodeTimeouts {
  /** For the Node to exist and have an address. */
  readonly node: number;
  /** For its podCIDRs after that, if they define local traffic. */
  readonly podCIDRs: number;
  /** A Node without an address is no problem, and nothing is checked against it. Missing: it is one. */
  readonly isAddressOptional?: true;
}

/** As kube-proxy waits (docs/internals/spec/server.md §2). */
export const CLUSTER_TIMEOUTS: NodeTimeouts = { node: 30_000, podCIDRs: 300_000 };
/** For sources in which nothing creates a Node that is missing at the start. */
export const NO_WAIT: NodeTimeouts = { node: 0, podCIDRs: 0 };

/** For sources that may know no Node, and backends that may not be on one. */
export const ADDRESS_OPTIONAL: NodeTimeouts = { ...NO_WAIT, isAddressOptional: true };

/** This node's Node object lacks what the rules need. */
class NodeNotReadyError extends NamedError {}

/**
 * Use case AwaitNode: delays the first sync until this node's Node object has what the rules need.
 *
 * It is *listing* until the lists have arrived, however long that takes. Then it waits *for node*: until the Node exists and
 * has an address. After the timeout it logs that and continues, because Services work without: `primary` then means all local
 * addresses. If podCIDRs define local traffic, it also waits *for podCIDRs*, and fails without them. Finally the Node and the
 * configuration are checked against each other, and it is *over*: later changes of the Node are only checked.
 */
export class AwaitNode {
  private state: 'listing' | 'for node' | 'for podCIDRs' | 'over' = 'listing';
  private timer: Timer | undefined;
  private resolve!: () => void;
  private reject!: (error: unknown) => void;
  /** Resolves when rules may be written; rejects with NodeNotReadyError or NodeMismatchError when they must not be. */
  readonly ready = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor(
    private readonly nodeName: string,
    private readonly needsPodCIDRs: boolean,
    private readonly timeouts: NodeTimeouts,
    private readonly node: () => Node | undefined,
    private readonly checks: Pick<CheckNode, 'atStart' | 'again'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    // A rejection without a listener is not an error.
    this.ready.catch(() => {});
  }

  /** The first lists have been delivered, that of the Node among them. Idempotent. */
  listed(): void {
    if (this.state !== 'listing') return;
    this.state = 'for node';
    if (this.hasAddress() || this.timeouts.isAddressOptional) return this.awaitPodCIDRs();
    if (this.timeouts.node > 0)
      this.logger.info(
        { node: this.nodeName },
        "waiting for this node's Node object to exist and to have an address",
      );
    this.wait(this.timeouts.node, () => {
      const problem = this.node() ? 'the Node object has no address' : 'the Node object does not exist';
      this.logger.error(
        { node: this.nodeName, problem },
        'continuing without a node address; it will be used when it appears',
      );
      this.awaitPodCIDRs();
    });
  }

  /** The Node has been added or changed. */
  changed(): void {
    if (this.state === 'over') this.check('again');
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
    if (this.timeouts.podCIDRs > 0)
      this.logger.info({ node: this.nodeName }, "waiting for the podCIDRs of this node's Node object");
    this.wait(this.timeouts.podCIDRs, () => {
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
      this.check('atStart');
      this.resolve();
    } catch (error) {
      this.reject(error);
    }
  }

  private check(when: 'atStart' | 'again'): void {
    if (this.hasAddress() || !this.timeouts.isAddressOptional) this.checks[when]();
  }

  private hasAddress(): boolean {
    return (this.node()?.ips.length ?? 0) > 0;
  }

  private hasPodCIDRs(): boolean {
    return (this.node()?.podCIDRs.length ?? 0) > 0;
  }
}
