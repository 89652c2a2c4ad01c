import { hostPort } from '../../net/address.js';
import type { TracedEnding } from '../../trace/traced-ending.js';

/** One possible end of a packet. There are several where rules pick at random. */
export interface Ending extends TracedEnding {
  /** What the packet carries at the end; a proxy should leave neither set. */
  readonly mark: number;
  readonly priority: number;
  /** What it left in dynamic sets: set and key. */
  readonly remembers: readonly { readonly set: string; readonly key: string }[];
}

/** All endings in one value. `mixed` means that packets get different verdicts, which should never happen. */
export type Outcome =
  | {
      /** Every endpoint that may be picked, sorted. */ readonly to: readonly string[];
      readonly masquerade: boolean | 'mixed';
    }
  | 'refused'
  | 'dropped'
  | 'untouched'
  | 'mixed';

/** What happens to packets of this kind. */
export function outcomeOf(endings: readonly TracedEnding[]): Outcome {
  const [first] = endings;
  if (!first || endings.some(({ verdict }) => verdict !== first.verdict)) return 'mixed';
  if (first.verdict !== 'sent') return first.verdict;
  const masquerade = endings.every((ending) => ending.masquerade === first.masquerade)
    ? first.masquerade
    : 'mixed';
  return { to: [...new Set(endings.flatMap((ending) => endpointText(ending) ?? []))].sort(), masquerade };
}

/** The endpoint of an ending as `ip:port`, IPv6 in brackets. Undefined unless the packet was sent to one. */
export function endpointText({ endpoint }: TracedEnding): string | undefined {
  return endpoint && hostPort(endpoint.address, endpoint.port);
}
