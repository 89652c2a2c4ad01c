import type { UnknownName } from '../../../application/status/service-row.js';
import { complain } from '../output/print.js';

/** Says what is known of names that no known Service has. Returns whether there are any. */
export function complainOf(unknown: readonly UnknownName[] = []): boolean {
  for (const { name, reason } of unknown) complain(`${name}: ${reason}`);
  return unknown.length > 0;
}
