import { isServiceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import { UsageError } from '../errors.js';

/** For what takes none. Empty ones are ignored, as kube-proxy does. @throws UsageError */
export function refuseOperands(operands: readonly string[]): void {
  if (operands.some((operand) => operand !== '')) {
    throw new UsageError(`"kube-proxy" does not take any arguments, got [${operands.join(' ')}]`);
  }
}

/** For what takes at most one Service, as `namespace/name`. @throws UsageError */
export function optionalService(command: string, operands: readonly string[]): ServiceKey | undefined {
  const [service] = operands;
  if (operands.length <= 1 && (service === undefined || isServiceKey(service))) return service;
  throw new UsageError(`${command} takes at most one Service as NAMESPACE/NAME, got [${operands.join(' ')}]`);
}
