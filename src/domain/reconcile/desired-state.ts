import type { ServicePortKey } from '../model/service-port-name.js';
import type { FrontendConflict } from './claims.js';

/**
 * The service port rules of all service ports of a family, with their claims. It depends only on the rules in it, never
 * on the order in which they came, and the cost of replacing those of one service port depends only on their size.
 *
 * @typeParam Rules service port rules, as the backend's compiler creates them
 * @typeParam Change collects what a batch of replacements does to the whole
 */
export interface DesiredState<Rules, Change> {
  rules(owner: ServicePortKey): Rules | undefined;

  /** Replaces the owner's rules (undefined: removes them) and adds the effect to `change`. */
  replace(owner: ServicePortKey, rules: Rules | undefined, change?: Change): void;

  /** The owner's conflicts. */
  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[];
}
