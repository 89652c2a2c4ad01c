import type { ServicePortKey, ServicePortName } from '../model/service-port-name.js';
import type { FrontendAddress } from '../conntrack/frontend-map.js';

/**
 * The service port rules of all service ports of a family. It depends only on the rules in it, never
 * on the order in which they came, and the cost of replacing those of one service port depends only on their size.
 *
 * @typeParam Rules service port rules, as the backend's compiler creates them
 * @typeParam Change collects what a batch of replacements does to the whole
 */
export interface DesiredState<Rules, Change> {
  rules(owner: ServicePortKey): Rules | undefined;

  /** An empty change. */
  newChange(): Change;

  /** Replaces the owner's rules (undefined: removes them) and adds the effect to `change`. */
  replace(owner: ServicePortKey, rules: Rules | undefined, change?: Change): void;

  /** Those of these UDP frontends that lead to no endpoints, as the same objects. Missing if that is unknown. */
  lost?(frontends: readonly FrontendAddress[]): readonly FrontendAddress[];
}

/** The kernel's content, by labels: the rules' information about their owners. */
export interface AdoptedRules<Rules> {
  labels(): Iterable<string>;

  /**
   * The labels of a service port: the kernel's rules under them are its own, or those of its frontends that another port of its Service
   * had, as before a port got another name.
   * @param rules what is wanted of it; undefined if that is unknown
   * @returns undefined if that would have to be known: rules that do not name their service port are identified by their frontends
   */
  labelsOf(name: ServicePortName, rules: Rules | undefined): readonly string[] | undefined;

  /**
   * The rules under these labels that are the owner's, except for what others claim by now and `owner` does not.
   * Undefined if there are none.
   */
  rules(labels: readonly string[], owner: ServicePortKey): Rules | undefined;
}
