import { NamedError } from '../model/named-error.js';
import type { Random } from './round-robin.js';

/** Every port of the range is taken. */
export class NoPortLeftError extends NamedError {
  constructor({ low, high }: PortRange) {
    super(
      'port allocation failed; there are no remaining ports left to allocate in the accepted range ' +
        `${low}-${high}; widen --proxy-port-range`,
    );
  }
}

/** Hands out the ports of a range, each once, in no order; of a range that begins at 0 always 0, by which the kernel chooses. */
export class PortAllocator {
  private readonly taken = new Set<number>();

  constructor(
    private readonly range: PortRange,
    private readonly random: Random,
  ) {}

  /** @throws NoPortLeftError */
  allocate(): number {
    const { low, high } = this.range;
    if (low === 0) return 0;
    const size = high - low + 1;
    const start = Math.floor(this.random() * size);
    for (let step = 0; step < size; step++) {
      const port = low + ((start + step) % size);
      if (this.taken.has(port)) continue;
      this.taken.add(port);
      return port;
    }
    throw new NoPortLeftError(this.range);
  }

  /** A port that was not handed out is left alone. */
  release(port: number): void {
    this.taken.delete(port);
  }
}

/** The ports that proxy sockets may have, both ends included. `low` 0: the kernel chooses. */
export interface PortRange {
  readonly low: number;
  readonly high: number;
}

const MAX_PORT = 65535;
const FORM = /^(\d{1,9})(?:([-+])(\d{1,9}))?$/;

/** Reads `N`, `LOW-HIGH` or `LOW+OFFSET`; an empty text leaves the choice to the kernel. Undefined when it is none of these. */
export function parsePortRange(text: string): PortRange | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return { low: 0, high: 0 };
  const [, first, sign, second] = FORM.exec(trimmed) ?? [];
  if (first === undefined) return undefined;
  const low = Number(first);
  const high = sign === undefined ? low : Number(second) + (sign === '+' ? low : 0);
  return high < low || high > MAX_PORT ? undefined : { low, high };
}
