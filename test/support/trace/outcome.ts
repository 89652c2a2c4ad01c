import { hostPort } from '../../../src/domain/net/address.js';
import type { PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';

/** All endings in one value. `mixed` means that packets get different verdicts, which should never happen. */
export type Outcome =
  | {
      /** Every endpoint that may be picked, sorted. */ readonly to: readonly string[];
      readonly masquerade: boolean | 'mixed';
    }
  | 'reject'
  | 'drop'
  | 'untouched'
  | 'mixed';

/** What happens to packets of this kind. */
export function outcomeOf(endings: readonly PacketPath[]): Outcome {
  const [first] = endings;
  if (!first || endings.some(({ verdict }) => verdict !== first.verdict)) return 'mixed';
  if (first.verdict !== 'forward') return first.verdict;
  const masquerade = endings.every((ending) => ending.masquerade === first.masquerade)
    ? first.masquerade
    : 'mixed';
  return { to: [...new Set(endings.flatMap((ending) => endpointText(ending) ?? []))].sort(), masquerade };
}

/** The endpoint of an ending as `ip:port`, IPv6 in brackets. Undefined unless the packet was sent to one. */
export function endpointText({ endpoint }: PacketPath): string | undefined {
  return endpoint && hostPort(endpoint.address, endpoint.port);
}
