import type { UnknownName } from '../../../application/status/service-row.js';
import { printError } from '../../../../adapters/cli/print-error.js';

/** Says what is known of names that no known Service has. Returns whether there are any. */
export function complainOf(unknown: readonly UnknownName[] = []): boolean {
  for (const { name, reason } of unknown) printError(`${name}: ${reason}`);
  return unknown.length > 0;
}
