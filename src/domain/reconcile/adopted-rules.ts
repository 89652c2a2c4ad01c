import type { ServicePortKey, ServicePortName } from '../model/service-port-name.js';

/** What the kernel holds, by labels: what rules there say about whose they are. */
export interface AdoptedRules<Rules> {
  labels(): Iterable<string>;

  /**
   * The labels of a service port: the kernel's rules under them are its own, or those of its frontends that another port of its Service
   * had, as before a port got another name.
   * @param rules what is wanted of it; undefined if that is unknown
   * @returns undefined if that would have to be known: rules that do not name their service port are told by their frontends
   */
  labelsOf(name: ServicePortName, rules: Rules | undefined): readonly string[] | undefined;

  /**
   * The rules under these labels that are the owner's, except for what others claim by now and `owner` does not.
   * Undefined if there are none.
   */
  rules(labels: readonly string[], owner: ServicePortKey): Rules | undefined;
}
