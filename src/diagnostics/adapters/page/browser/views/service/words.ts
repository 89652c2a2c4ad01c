import { hostPort } from '../../../../../../domain/net/ip-family.js';
import { endpointWords } from '../../../../../application/words.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
} from '../../../../../application/explain/explanation.js';
import { clockTime } from '../../parts/time.js';

/** What has an address and a port. */
export type Addressed = Pick<EndpointExplanation, 'address' | 'port'>;

/** `10.96.0.80:80`, `[fd00::1]:80`, or the number of a node port. */
export function frontendAddress({ address, port }: FrontendExplanation): string {
  return address === undefined ? `*:${port}` : hostPort(address, port);
}

export function endpointAddress({ address, port }: Addressed): string {
  return hostPort(address, port);
}

/** Whether an endpoint is used, what is known of it, and when it came, if that is news. */
export function endpointText(endpoint: EndpointExplanation, cameAt: string | undefined): string {
  return `${cameAt === undefined ? '' : `came ${clockTime(cameAt)}, `}${endpointWords(endpoint)}`;
}
