import type { ServicePortKey } from '../model/service-port-name.js';
import type { FrontendConflict } from './claims.js';

/**
 * What the rules of all service ports of a family add up to. It depends only on the rules that are in it, never on the
 * order in which they came, and replacing those of one service port costs what is in them.
 *
 * @typeParam Rules everything that one service port asks for, as its backend's compiler makes it
 * @typeParam Change collects what a batch of replacements does to the whole
 */
export interface DesiredState<Rules, Change> {
  rules(owner: ServicePortKey): Rules | undefined;

  /** Puts rules in place of the owner's present ones (undefined: takes them away) and notes the effect in `change`. */
  replace(owner: ServicePortKey, rules: Rules | undefined, change?: Change): void;

  /** The conflicts on frontends that the owner is part of. */
  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[];
}
