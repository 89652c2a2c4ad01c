import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { SetDefinition } from '../../domain/nftables/layout/table.js';
import type { Transaction } from '../../domain/nftables/state/transaction.js';
import type { NftCommitError } from './transport.js';

/**
 * The service ports of the elements that the kernel named, each with the reason. The kernel goes no further in a message when it
 * refuses to delete one of its elements, and on with the next message: what should replace the others is refused, too, because
 * they are still there. That is nobody's fault.
 */
export function culprits(
  { failures }: NftCommitError,
  transaction: Transaction,
): ReadonlyMap<ServicePortKey, string> {
  const named = new Map<ServicePortKey, string>();
  const undeleted = new Set<string>();
  for (const { operation, element, reason } of failures) {
    if (operation === undefined || element === undefined) continue;
    const refused = transaction.operations[operation];
    if (refused?.op === 'delete-elements')
      for (const { key } of refused.elements.slice(element + 1)) undeleted.add(placeOf(refused.set, key));
    const isPresent = refused?.op === 'add-elements' && reason.startsWith('EEXIST');
    if (isPresent && undeleted.has(placeOf(refused.set, refused.elements[element]!.key))) continue;
    const owner = transaction.owner(operation, element);
    if (owner !== undefined) named.set(owner, `the kernel refused ${refused?.op}: ${reason}`);
  }
  return named;
}

function placeOf({ name }: SetDefinition, key: string): string {
  return `${name} ${key}`;
}
