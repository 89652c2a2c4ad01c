import type { Clock, Timer } from '../../application/ports/clock.js';
import type { LocalAddresses } from '../../application/ports/local-addresses.js';
import type { Logger } from '../../application/ports/logger.js';
import type { NodeAddressReader } from './service-addresses.js';

/** How often it is looked whether addresses came or went, in milliseconds. */
const PERIOD = 1_000;

/**
 * The addresses of this node, as they were when they last changed.
 *
 * opened (the addresses are known) → followed (a look each second; whoever follows is told of each change) → closed.
 */
export class NodeAddressWatch implements LocalAddresses {
  private timer: Timer | undefined;
  private closed = false;
  /** Addresses came or went, and were not read since. */
  private stale = false;

  private constructor(
    private readonly reader: NodeAddressReader,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private addresses: readonly string[],
  ) {}

  static async open(reader: NodeAddressReader, clock: Clock, logger: Logger): Promise<NodeAddressWatch> {
    return new NodeAddressWatch(reader, clock, logger, await sorted(reader));
  }

  list(): readonly string[] {
    return this.addresses;
  }

  /** From now on tells of changes. */
  follow(onChange: () => void): void {
    if (this.closed) return;
    this.timer = this.clock.after(PERIOD, () => {
      this.look(onChange).then(
        () => this.follow(onChange),
        (error: unknown) => {
          if (this.closed) return;
          this.logger.error({ error }, 'addresses of this node cannot be read; will try again');
          this.follow(onChange);
        },
      );
    });
  }

  /** Idempotent. */
  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.reader.close();
  }

  private async look(onChange: () => void): Promise<void> {
    this.stale ||= this.reader.changed();
    if (!this.stale) return;
    const addresses = await sorted(this.reader);
    this.stale = false;
    if (addresses.join() === this.addresses.join()) return;
    this.addresses = addresses;
    onChange();
  }
}

async function sorted(reader: NodeAddressReader): Promise<readonly string[]> {
  return [...(await reader.list())].sort();
}
