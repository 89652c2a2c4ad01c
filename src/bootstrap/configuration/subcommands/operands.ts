import { UsageError } from '../errors.js';

/** For what takes none. Empty ones are ignored, as kube-proxy does. @throws UsageError */
export function refuseOperands(operands: readonly string[]): void {
  if (operands.some((operand) => operand !== '')) {
    throw new UsageError(`"kube-proxy" does not take any arguments, got [${operands.join(' ')}]`);
  }
}
