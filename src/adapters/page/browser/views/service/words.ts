import { hostPort } from '../../../../../domain/net/host-port.js';
import type { EndpointExplanation, FrontendExplanation } from '../../asking/answers.js';
import type { Rule } from './rules.js';

/** `10.96.0.80:80`, `[fd00::1]:80`, or the number of a node port. */
export function frontendAddress({ address, port }: FrontendExplanation): string {
  return address === undefined ? `*:${port}` : hostPort(address, port);
}

export function endpointAddress({ address, port }: Pick<EndpointExplanation, 'address' | 'port'>): string {
  return hostPort(address, port);
}

/** What a rule does, in a few words. */
export function ruleTitle({ policy, outcome }: Rule): string {
  return `${policy}: ${outcome}`;
}
