import { displayName, type Protocol, type ServicePortName } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';

/** nft refuses comments longer than 128 characters, and with them the whole transaction. */
const MAX_COMMENT = 128;

/** The comment of a frontend's elements, which names its service port. */
export function frontendComment(name: ServicePortName): string {
  return displayName(name).slice(0, MAX_COMMENT);
}

/** A frontend in the form that people use: `10.96.0.10:53/UDP`, `node port 30053/UDP`. */
export function frontendText(address: string | undefined, port: number, protocol: Protocol): string {
  return `${address === undefined ? `node port ${port}` : hostPort(address, port)}/${protocol}`;
}
