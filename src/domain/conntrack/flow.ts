import type { Frontend } from '../forwarding/forwarding-entry.js';
import { hostPort } from '../net/address.js';

/**
 * The parts of a tracked connection that matter here. Addresses are canonical text. May be a view that is only valid while
 * the flow is judged.
 */
export interface Flow {
  /** The address to which the client sends its packets. */
  readonly destination: string;
  readonly destinationPort: number;
  /** The source of expected replies, `ip:port`: the endpoint, or the destination itself when nothing translated it. */
  readonly replySource: string;
}

/** A flow, and what is known of its client. */
export interface ClientFlow extends Flow {
  /** The client's address, as it sent its first packet. */
  readonly source: string;
  /** The endpoint sees another address than the client's. */
  readonly isMasqueraded: boolean;
}

/** Whether the packets go somewhere other than where the client sent them. */
export function isTranslated({ destination, destinationPort, replySource }: Flow): boolean {
  return replySource !== hostPort(destination, destinationPort);
}

/** Whether the client reached an endpoint by one of these frontends. */
export function leadsThrough(flow: Flow, frontends: readonly Pick<Frontend, 'address' | 'port'>[]): boolean {
  return (
    isTranslated(flow) &&
    frontends.some(
      ({ address = flow.destination, port }) => port === flow.destinationPort && address === flow.destination,
    )
  );
}
