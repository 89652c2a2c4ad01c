import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ServiceAddresses } from '../kernel/service-addresses.js';
import { carryOut, type Outcome } from './planned-steps.js';

/** The addresses of one family on the device of service addresses, as they were read or written last. */
export class AddressTable {
  private readonly known = new Set<string>();

  constructor(
    private readonly family: IpFamily,
    private readonly addresses: ServiceAddresses,
  ) {}

  /** Reads the kernel. */
  async read(): Promise<void> {
    const present = (await this.addresses.list(this.family)) ?? [];
    this.known.clear();
    for (const address of present) this.known.add(address);
  }

  /** Makes the device, unless it is there. */
  ensureDevice(): Promise<void> {
    return this.addresses.ensureDevice();
  }

  all(): Iterable<string> {
    return this.known;
  }

  /** Adds those that are missing. */
  add(addresses: readonly string[]): Promise<Outcome<string>> {
    return this.change('add', addresses);
  }

  /** Removes those that are there. */
  remove(addresses: readonly string[]): Promise<Outcome<string>> {
    return this.change('remove', addresses);
  }

  private change(kind: 'add' | 'remove', addresses: readonly string[]): Promise<Outcome<string>> {
    return carryOut(
      addresses.flatMap((address) => {
        if (this.known.has(address) === (kind === 'add')) return [];
        const done = () => void (kind === 'add' ? this.known.add(address) : this.known.delete(address));
        return [{ step: { kind, address }, about: address, done }];
      }),
      (steps) => this.addresses.apply(steps),
    );
  }
}
