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
  return `${policy}: ${{ forward: 'forward', reject: 'refuse', drop: 'drop' }[outcome]}`;
}

/** Whether an endpoint is used, and what is known of it. */
export function endpointWords(endpoint: EndpointExplanation): string {
  const { used, isLocal, ready, serving, terminating, zoneHints, nodeHints, reason } = endpoint;
  return [
    used ? 'used' : 'not used',
    ready ? 'ready' : 'not ready',
    ...(terminating ? [serving ? 'terminating, still serving' : 'terminating'] : []),
    ...(isLocal ? ['on this node'] : []),
    ...(zoneHints.length > 0 ? [`for zones ${zoneHints.join(' ')}`] : []),
    ...(nodeHints.length > 0 ? [`for nodes ${nodeHints.join(' ')}`] : []),
    ...(reason === undefined ? [] : [reason]),
  ].join(', ');
}

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
