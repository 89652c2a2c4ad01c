import { isServiceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
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

/** For what takes at most one Service, as `namespace/name`. @throws UsageError */
export function optionalService(command: string, operands: readonly string[]): ServiceKey | undefined {
  const [service] = operands;
  if (operands.length <= 1 && (service === undefined || isServiceKey(service))) return service;
  throw new UsageError(`${command} takes at most one Service as NAMESPACE/NAME, got [${operands.join(' ')}]`);
}
