import { hostPort } from '../../../../../domain/net/host-port.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
} from '../../../../../application/explain/explanation.js';

/** `10.96.0.80:80`, `[fd00::1]:80`, or the number of a node port. */
export function frontendAddress({ address, port }: FrontendExplanation): string {
  return address === undefined ? `*:${port}` : hostPort(address, port);
}

export function endpointAddress({ address, port }: Pick<EndpointExplanation, 'address' | 'port'>): string {
  return hostPort(address, port);
}
