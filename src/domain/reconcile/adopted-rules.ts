import type { ServicePortKey, ServicePortName } from '../model/service-port-name.js';

/** What an earlier process left, by the label under which the kernel's rules name their service port. */
export interface AdoptedRules<Rules> {
  label(name: ServicePortName): string;
  labels(): Iterable<string>;
  /**
   * The rules under a label, except for frontends that service ports other than `owner` claim by now. Undefined if
   * there are none.
   */
  rules(label: string, owner: ServicePortKey): Rules | undefined;
}
