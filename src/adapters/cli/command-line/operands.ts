import { UsageError } from '../usage-error.js';

/**
 * For what takes none. Empty ones are ignored, as kube-proxy does.
 * @param command as the message names it
 * @throws UsageError
 */
export function refuseOperands(operands: readonly string[], command = 'kube-proxy'): void {
  if (operands.some((operand) => operand !== '')) {
    throw new UsageError(`"${command}" does not take any arguments, got [${operands.join(' ')}]`);
  }
}
