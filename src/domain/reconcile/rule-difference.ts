import { displayName, type Protocol, type ServicePortKey } from '../model/service-port-name.js';
import { isUnexplained, labelOf } from './unexplained.js';

/** One line that the kernel has otherwise than desired, in the words of the mode's tool. */
export interface RuleDifference {
  /** `-`: the kernel has it, and should not. `+`: it should have it. */
  readonly sign: '-' | '+';
  readonly text: string;
  /** The service port as `namespace/name:port`. Missing: it belongs to the node, or nobody knows to whom. */
  readonly servicePort?: string;
}

/** A line with the service port that desires it. */
export function differing(
  sign: RuleDifference['sign'],
  text: string,
  owner?: ServicePortKey | undefined,
): RuleDifference {
  return owner === undefined ? { sign, text } : { sign, text, servicePort: servicePortOf(owner) };
}

function servicePortOf(owner: ServicePortKey): string {
  if (isUnexplained(owner)) return labelOf(owner);
  const [namespace = '', name = '', protocol = '', port = ''] = owner.split('/');
  return displayName({ namespace, name, port, protocol: protocol.toUpperCase() as Protocol });
}
