/** Tracked connections, and how long their endpoints have been silent. */

import type { Frontend } from '../forwarding/forwarding-entry.js';
import { getOrMake } from '../model/maps.js';
import { hostPort } from '../net/address.js';
import type { Protocol } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';

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

/** The activity of an established connection of TCP or SCTP since the previous poll. */
export interface ConnectionActivity {
  /** The client sent something. */
  readonly sent: boolean;
  /** The endpoint sent something, if only an acknowledgement. */
  readonly answered: boolean;
  /** TCP: data of the client, or its end, waits for an acknowledgement. SCTP: after the endpoint's last packet the client sent more than acknowledgements. */
  readonly unacknowledged: boolean;
}

/**
 * How long the endpoint of an established connection has not responded, in polls that are seconds apart:
 * - *answered*: it sent something since the previous poll.
 * - *idle*: it sent nothing. So what its client sends from now on does not acknowledge anything, and if data of it is
 *   unacknowledged, calls for an answer.
 * - *waiting*: the client then sent, with data unacknowledged.
 * - *unresponsive*: until the next poll there was still no answer. A working kernel acknowledges data within 0.2 s, independent of the
 *   process with the connection.
 *
 * None of these takes a pause for responsiveness. A client that does not read acknowledges all that it gets, and has nothing
 * unacknowledged. An endpoint that does not read causes repeated probes of the client's kernel, and answers each of them. A
 * client that sends only keepalives is ignored: they look like the window updates of a slow reader, and they detect a dead
 * endpoint themselves.
 *
 * Of SCTP the kernel shows packets and their sizes, but not their contents. While the endpoint has been quiet for seconds, its client sends data,
 * heartbeats or the beginning of a new association, all of which a living kernel acknowledges immediately. It may also send a mere
 * acknowledgement, by which a slow reader offers room again; that one has a size of its own and calls for no answer.
 */
export type Responsiveness = 'answered' | 'idle' | 'waiting' | 'unresponsive';

export function responsivenessAfter(
  before: Responsiveness,
  { sent, answered, unacknowledged }: ConnectionActivity,
): Responsiveness {
  if (answered) return 'answered';
  if (before === 'answered') return 'idle';
  if (before === 'idle') return sent && unacknowledged ? 'waiting' : 'idle';
  return unacknowledged ? 'unresponsive' : 'idle';
}

/**
 * How many connections each endpoint has that appears dead as a whole: one of them is silent, and none is answered, or may be by the
 * next poll. Idle ones do not count.
 */
export function unresponsiveEndpoints<Endpoint>(
  connections: Iterable<{ readonly of: Endpoint; readonly responsiveness: Responsiveness }>,
): ReadonlyMap<Endpoint, number> {
  const counts = new Map<Endpoint, number>();
  const states = new Map<Endpoint, Set<Responsiveness>>();
  for (const { of, responsiveness } of connections) {
    counts.set(of, (counts.get(of) ?? 0) + 1);
    getOrMake(states, of, () => new Set()).add(responsiveness);
  }
  for (const [endpoint, seen] of states)
    if (!seen.has('unresponsive') || seen.has('answered') || seen.has('waiting')) counts.delete(endpoint);
  return counts;
}

/** A tracked connection as the kernel shows it at one moment. May be a view that is only valid during a call. */
export interface SeenFlow extends Flow {
  /** Identifies it among all that exist at the same time. */
  readonly id: number;
  /** Of its client's address and port (`flowHash`): decides whether it belongs to a sample. */
  readonly hash: number;
  /** The last four bytes of the client's address, as a number. */
  readonly client: number;
  readonly family: IpFamily;
  readonly protocol: Protocol;
  /** Packets have come back. */
  readonly replied: boolean;
  /** Both ends have closed it (TCP), though the kernel still remembers it. */
  readonly closed: boolean;
  /** In both directions since it began; undefined if the kernel does not count them, or does not say. */
  readonly bytes: number | undefined;
}
