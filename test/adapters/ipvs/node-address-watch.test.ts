import { FakeClock } from '../../../src/adapters/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { NodeAddressWatch } from '../../../src/adapters/ipvs/node-address-watch.js';
import type { NodeAddressReader } from '../../../src/adapters/ipvs/service-addresses.js';

class Reader implements NodeAddressReader {
  noticed = false;
  reads = 0;
  failure: Error | undefined;
  closed = false;

  constructor(public addresses: readonly string[]) {}

  async list(): Promise<readonly string[]> {
    if (this.failure) throw this.failure;
    this.reads++;
    return Promise.resolve(this.addresses);
  }

  changed(): boolean {
    const { noticed } = this;
    this.noticed = false;
    return noticed;
  }

  close(): void {
    this.closed = true;
  }

  become(...addresses: readonly string[]): void {
    this.addresses = addresses;
    this.noticed = true;
  }
}

describe('the addresses of the node', () => {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  let reader: Reader;
  let watch: NodeAddressWatch;
  let changes: number;
  beforeEach(async () => {
    reader = new Reader(['192.0.2.2', '192.0.2.1']);
    watch = await NodeAddressWatch.open(reader, clock, logger);
    changes = 0;
    watch.follow(() => changes++);
  });
  afterEach(() => {
    watch.close();
    expect(reader.closed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('are known from the start, sorted', () => {
    expect(watch.list()).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  it('are not read while nothing happens', async () => {
    await clock.advanceAsync(60_000);
    expect([reader.reads, changes]).toEqual([1, 0]);
  });

  it('are followed within seconds', async () => {
    reader.become('192.0.2.1');
    await clock.advanceAsync(1_000);
    expect([watch.list(), changes]).toEqual([['192.0.2.1'], 1]);
    reader.become('192.0.2.1', '192.0.2.3');
    await clock.advanceAsync(1_000);
    expect([watch.list(), changes]).toEqual([['192.0.2.1', '192.0.2.3'], 2]);
  });

  it('are no news when they are the same after all', async () => {
    reader.become('192.0.2.1', '192.0.2.2');
    await clock.advanceAsync(1_000);
    expect([reader.reads, changes]).toEqual([2, 0]);
  });

  it('are read later when they cannot be read now', async () => {
    reader.become('192.0.2.9');
    reader.failure = new Error('ENOBUFS');
    await clock.advanceAsync(1_000);
    expect(logger.at('error')).toHaveLength(1);
    reader.failure = undefined;
    await clock.advanceAsync(1_000);
    expect([watch.list(), changes]).toEqual([['192.0.2.9'], 1]);
  });
});
