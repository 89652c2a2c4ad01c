import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { combine } from './sync-observer.js';

/** The forwarding of the kernel after a sync. */
export interface Programmed {
  readonly changes: Iterable<ForwardingChange>;
  /** Service ports among the changes that could not be programmed: the kernel has their former rules. */
  readonly failed: ReadonlySet<ServicePortKey>;
  readonly network: NodeNetwork;
  /** UDP frontends that the kernel had from an earlier process and has no longer. */
  readonly lost?: readonly FrontendAddress[];
}

/**
 * Called with what one family forwards after each sync that did not fail as a whole, before the next one begins. Calls
 * are synchronous, their cost depends on the changes, and they never throw. Missing where it does not matter.
 */
export interface ForwardingListener {
  /**
   * These changes are being written: packets may already meet them before `programmed` is called. Not called for what a
   * start programs.
   */
  programming?(changes: readonly ForwardingChange[]): void;
  programmed(programmed: Programmed): void;
  /**
   * Another program had changed the rules, or the kernel had kept some, so for a while packets may have met other rules than those programmed.
   * @param lost as in `Programmed`
   */
  repaired?(lost?: readonly FrontendAddress[]): void;
}

/** Several listeners as one. Each is called in turn. */
export function combineListeners(listeners: readonly ForwardingListener[]): ForwardingListener {
  return combine<ForwardingListener>(listeners, ['programming', 'programmed', 'repaired']);
}
