import { MAX_COMMENT_LENGTH } from './text/safe-text.js';
import { displayName, type ServicePortName } from '../model/service-port-name.js';

/** The comment of a frontend's elements, which names its service port. nft refuses longer ones, and with them the whole transaction. */
export function frontendComment(name: ServicePortName): string {
  return displayName(name).slice(0, MAX_COMMENT_LENGTH);
}
