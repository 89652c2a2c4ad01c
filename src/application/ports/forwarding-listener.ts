import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** What the kernel forwards from now on. */
export interface Programmed {
  readonly changes: Iterable<ForwardingChange>;
  /** Of the changes, those that could not be programmed: the kernel has what it had. */
  readonly failed: ReadonlySet<ServicePortKey>;
  readonly network: NodeNetwork;
  /** UDP frontends that the kernel had from a former process and has no longer. */
  readonly lost?: readonly FrontendAddress[];
}

/**
 * Is told what one family forwards after each sync that did not fail as a whole, before the next one begins. Calls are
 * synchronous, cost what changed, and never throw.
 */
export interface ForwardingListener {
  /** These are on their way to the kernel: packets may meet them before `programmed` says so. Not for what a start programs. */
  programming(changes: readonly ForwardingChange[]): void;
  programmed(programmed: Programmed): void;
  /** Somebody had changed the rules, so for a while others than those that were programmed may have held. */
  repaired(): void;
}
