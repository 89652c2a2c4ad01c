import type { IpFamily } from '../../../domain/net/ip-family.js';
import { carryOut, withSecondTry, type Outcome } from './outcome.js';
import type { ServiceAddresses } from '../kernel/service-addresses.js';

/** The addresses of one family on the device of service addresses. */
export class AddressTable {
  private readonly known = new Set<string>();

  constructor(
    private readonly family: IpFamily,
    private readonly addresses: ServiceAddresses,
  ) {}

  /** Makes the device, unless it is there, and reads its addresses. */
  async read(): Promise<void> {
    await this.addresses.ensureDevice();
    const present = (await this.addresses.list(this.family)) ?? [];
    this.known.clear();
    for (const address of present) this.known.add(address);
  }

  all(): Iterable<string> {
    return this.known;
  }

  add(addresses: readonly string[]): Promise<Outcome<string>> {
    return this.change('add', addresses);
  }

  remove(addresses: readonly string[]): Promise<Outcome<string>> {
    return this.change('remove', addresses);
  }

  private change(kind: 'add' | 'remove', all: readonly string[]): Promise<Outcome<string>> {
    const attempt = (part: readonly string[]) =>
      carryOut(
        part.flatMap((address) => {
          if (this.known.has(address) === (kind === 'add')) return [];
          const done = () => void (kind === 'add' ? this.known.add(address) : this.known.delete(address));
          return [{ step: { kind, address }, about: address, done }];
        }),
        (steps) => this.addresses.apply(steps),
      );
    return withSecondTry(all, attempt, () => this.read());
  }
}
