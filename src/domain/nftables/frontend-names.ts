import { displayName, type ServicePortName } from '../model/service-port-name.js';

/** nft refuses comments longer than 128 characters, and with them the whole transaction. */
const MAX_COMMENT = 128;

/** The comment of a frontend's elements, which names its service port. */
export function frontendComment(name: ServicePortName): string {
  return displayName(name).slice(0, MAX_COMMENT);
}
