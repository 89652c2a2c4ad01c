/** One possible end of a packet. There are several where rules pick at random. */
export interface Ending {
  readonly verdict: 'sent' | 'untouched' | 'refused' | 'dropped';
  /** Where the packet was sent: `ip:port`, IPv6 in brackets. Undefined unless `sent`. */
  readonly endpoint?: string;
  readonly masquerade: boolean;
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
export function outcomeOf(endings: readonly Ending[]): Outcome {
  const [first] = endings;
  if (!first || endings.some(({ verdict }) => verdict !== first.verdict)) return 'mixed';
  if (first.verdict !== 'sent') return first.verdict;
  const masquerade = endings.every((ending) => ending.masquerade === first.masquerade)
    ? first.masquerade
    : 'mixed';
  return { to: [...new Set(endings.map(({ endpoint }) => endpoint!))].sort(), masquerade };
}
