import type { ForwardingChange, ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ServiceStatuses } from '../status/service-statuses.js';

/** The changes, and every other entry of the table. */
export function withEveryEntry(
  table: ForwardingTable,
  changes: readonly ForwardingChange[],
): readonly ForwardingChange[] {
  const gone = changes.filter(({ entry }) => !entry);
  return [...gone, ...Array.from(table.entries(), (entry) => ({ key: entry.key, entry }))];
}

/** As changes: all service ports, and those that were removed while nothing could be programmed. */
export function everyPort(
  table: ForwardingTable,
  statuses: ServiceStatuses,
  family: IpFamily,
): readonly ForwardingChange[] {
  const present = [...table.entries()].map((entry) => ({ key: entry.key, entry }));
  const gone = statuses.keys(family).filter((key) => !table.entry(key));
  return [...gone.map((key) => ({ key, entry: undefined })), ...present];
}

/**
 * Removals that failed. The forwarding table has forgotten them; only their status tells that the kernel has not.
 * @param services those of which they are wanted; undefined for all
 */
export function failedRemovals(
  table: ForwardingTable,
  statuses: ServiceStatuses,
  family: IpFamily,
  services: ReadonlySet<ServiceKey> | undefined,
): readonly ForwardingChange[] {
  return statuses
    .failures(family)
    .filter(({ key }) => !table.entry(key) && (services?.has(serviceOf(key)) ?? true))
    .map(({ key }) => ({ key, entry: undefined }));
}
