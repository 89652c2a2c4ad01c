import type { Packet } from '../../domain/trace/packet.js';
import type { ExplainAddress } from './explain-address.js';
import { acceptedSourcesText } from '../words/source-words.js';

/**
 * Why the proxy has packets to this destination refused or dropped, in the words of an explanation of that address; undefined if
 * it has them forwarded. Searches everything, so only for people who ask.
 */
export function refusalOf(
  addresses: ExplainAddress,
  { destination: address, destinationPort: port, protocol }: Packet,
): string | undefined {
  const { frontends, otherwise } = addresses.address({ kind: 'address', address, port, protocol });
  const [held] = frontends
    .filter(({ frontend }) => frontend.outcome !== 'lost')
    .sort((one, other) => (one.service < other.service ? -1 : 1));
  if (!held) return otherwise;
  const { frontend, sourceRanges = [] } = held;
  if (frontend.outcome !== 'forward') return frontend.reason;
  return sourceRanges.length > 0 ? acceptedSourcesText(sourceRanges) : undefined;
}
