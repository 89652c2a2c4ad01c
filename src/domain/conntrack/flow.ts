import { hostPort } from '../net/address.js';

/**
 * One tracked UDP connection, as far as it matters here. Addresses are canonical text. May be a view that is only good
 * while it is being judged.
 */
export interface Flow {
  /** Where the client sends its packets. */
  readonly destination: string;
  readonly destinationPort: number;
  /** Who is expected to answer, `ip:port`: the endpoint, or the destination itself when nobody translated it. */
  readonly answerer: string;
}

/** Whether the packets go elsewhere than where the client sent them. */
export function isTranslated({ destination, destinationPort, answerer }: Flow): boolean {
  return answerer !== hostPort(destination, destinationPort);
}
