import type { FrontendAddress } from '../../../domain/conntrack/frontend-map.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { AdoptedRules } from '../../../domain/reconcile/desired-state.js';
import type { RuleDifference } from '../../../domain/reconcile/rule-difference.js';

/**
 * For drivers whose compiled rules depend on more than the forwarding entry. Without it they must not. Whoever has one of its calls
 * needs both.
 */
export interface Surroundings {
  /**
   * Learns what compiling these changes requires; called before they are compiled, and before removed service ports are
   * removed. Idempotent. If it throws, nothing has been compiled or written: the call fails as a whole, and is repeated.
   * @param node the node for which they are compiled
   */
  prepare(changes: Iterable<ForwardingChange>, node: NodeNetwork): Promise<void> | void;

  /** Whether compiled rules depend on what differs between these two (`Backend.rulesDependOn`). Never throws. */
  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean;
}

/** For drivers that cannot always program what is asked for, and then something else. */
export interface Notes {
  /** How what is programmed deviates from what the entry asks for, for people. Called after each write. Never throws. */
  noteOn(entry: ForwardingEntry): string | undefined;
}

/**
 * For drivers whose kernel shows whose rules are. Without it a start cannot keep unexplained rules, a refused service port goes back
 * to its last good rules only, and a refused repair fails as a whole.
 */
export interface Adoption<Rules, Actual> {
  /**
   * The rules that the kernel holds, by whose they are: those that an earlier process left, and those to which a refused
   * service port goes back. With them as its rules, a repair of `actual` writes nothing of the service port. Changes nothing,
   * and never throws: what it cannot read is nobody's.
   */
  adopted(actual: Actual): AdoptedRules<Rules>;

  /** UDP frontends that lead to endpoints in `actual`. Called once after each start. Never throws. */
  udpFrontends(actual: Actual): readonly FrontendAddress[];

  /** Those of these UDP frontends that no longer lead to endpoints, as the same objects. Never throws. */
  lost(frontends: readonly FrontendAddress[]): readonly FrontendAddress[];
}

/** For drivers that recognize service ports by marks of an earlier write (`ReadOptions.mayRecognize`). */
export interface Recognition<Actual> {
  /** Whether service ports were only recognized, so that the kernel may lack some of their rules: everything is verified soon. */
  isPartial(actual: Actual): boolean;
}

/** For drivers that can say what differs. Without it nobody is told (`Backend.differences`). */
export interface Comparison<Actual> {
  /**
   * What separates `actual` from the desired state and the node, line by line in the words of the mode's tool: what `repair` would
   * change. What stays for a while although it is unused is no difference. `undefined` among them only gives other work its turn.
   * Changes nothing; may be left early. If it throws, whoever asked is told; nobody retries.
   */
  differences(actual: Actual): DifferenceLines;
}

/** For drivers that leave what is unused in the kernel for a while, because packets or connections may still need it. */
export interface DelayedRemoval {
  /**
   * Removes what is unused and is needed no longer. Called at each verification, also at those that compare nothing, and before each
   * repair. Idempotent. Never rejects for what it cannot remove: that is logged, and tried again at the next call or by the next
   * repair.
   */
  removeUnused(): Promise<void>;
}

/** For drivers that write on where something cannot be removed. */
export interface OwnRemains {
  /** Whether the kernel still has something that was to be removed, since it refused. A repair removes it; nobody else changed it. */
  readonly hasOwnRemains: boolean;
  /** `Backend.unremoved`. Missing: nothing leads to what stays. */
  readonly unremoved?: readonly string[];
}

/** Lines that are made while they are taken. */
export type DifferenceLines = Iterable<RuleDifference | undefined>;
