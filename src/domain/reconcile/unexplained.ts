import type { ServicePortKey } from '../model/service-port-name.js';

/** Sorts after every service port's key. */
const PREFIX = '~';

/**
 * The owner of unexplained rules.
 * @param label by which the rules in the kernel name their service port
 */
export function unexplainedOwner(label: string): ServicePortKey {
  return PREFIX + label;
}

export function isUnexplained(owner: ServicePortKey): boolean {
  return owner.startsWith(PREFIX);
}

/** The label of the owner of unexplained rules. */
export function labelOf(owner: ServicePortKey): string {
  return owner.slice(PREFIX.length);
}
