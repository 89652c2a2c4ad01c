import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { Packet } from '../../domain/trace/trace.js';
import { acceptedSourcesText } from '../words/source-words.js';
import type { ExplainAddress } from './explain-address.js';
import type { AddressSubject } from './subject.js';

/**
 * Why the proxy has packets to this destination refused or dropped, in the words of an explanation of that address; undefined if
 * it has them forwarded. Searches everything, so only for people who ask.
 */
export function refusalOf(addresses: ExplainAddress, packet: Packet): string | undefined {
  const { frontends, otherwise } = addresses.address(subjectOf(packet));
  const [held] = frontends
    .filter(({ frontend }) => frontend.outcome !== 'held')
    .sort((one, other) => (one.service < other.service ? -1 : 1));
  if (!held) return otherwise;
  const { frontend, sourceRanges = [] } = held;
  if (frontend.outcome !== 'forward') return frontend.reason;
  return sourceRanges.length > 0 ? acceptedSourcesText(sourceRanges) : undefined;
}

/**
 * Which endpoints behind this destination get no new connections because they are silent, in the words of an explanation.
 * @param ports service ports that have such endpoints; no others are looked at
 */
export function asidesAt(
  addresses: ExplainAddress,
  packet: Packet,
  ports: Iterable<ForwardingEntry>,
): readonly string[] {
  return [...ports].flatMap((port) => addresses.asidesOf(port, subjectOf(packet)));
}

function subjectOf({ destination: address, destinationPort: port, protocol }: Packet): AddressSubject {
  return { kind: 'address', address, port, protocol };
}
