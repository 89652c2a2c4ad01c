import type { Protocol } from '../model/service-port-name.js';
import { flatText } from '../model/text.js';
import { hostPort } from '../net/address.js';

/** A frontend in the form that people use: `10.96.0.10:53/UDP`, `[fd00::1]:80/TCP`, or `node port 30053/UDP` without an address. */
export function frontendName(address: string | undefined, port: number, protocol: Protocol): string {
  return flatText(address === undefined ? `node port ${port}` : hostPort(address, port), '/', protocol);
}
