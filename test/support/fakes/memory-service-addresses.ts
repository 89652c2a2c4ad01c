import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { AddressStep, ServiceAddresses, StepOutcome } from '../../../src/adapters/ipvs/ipvs-kernel.js';
import { rejectionOf } from './refusal-of.js';

/** The device of service addresses in memory. */
export class MemoryServiceAddresses implements ServiceAddresses {
  private device: Set<string> | undefined;
  private refuses: (step: AddressStep) => string | undefined = () => undefined;
  private outage: Error | undefined;

  /** @param journal every step that changed something, in words */
  constructor(readonly journal: string[] = []) {}

  /** From now on refuses steps for which this gives a reason. */
  refuse(reason: (step: AddressStep) => string | undefined): void {
    this.refuses = reason;
  }

  /** Every call fails with this until it is undefined again. */
  fail(error: Error | undefined): void {
    this.outage = error;
  }

  /** Another program gives the device exactly these addresses, or removes it. */
  tamper(addresses: readonly string[] | undefined): void {
    this.device = addresses && new Set(addresses);
  }

  /** Sorted; undefined without the device. */
  get all(): readonly string[] | undefined {
    return this.device && [...this.device].sort();
  }

  async ensureDevice(): Promise<void> {
    this.check();
    if (!this.device) this.journal.push('make device');
    this.device ??= new Set();
    return Promise.resolve();
  }

  async list(family: IpFamily): Promise<readonly string[] | undefined> {
    this.check();
    return Promise.resolve(this.all?.filter((address) => address.includes(':') === (family === 'IPv6')));
  }

  async apply(steps: readonly AddressStep[]): Promise<readonly StepOutcome[]> {
    this.check();
    return Promise.resolve(
      steps.map((step) => {
        const { kind, address } = step;
        const reason = this.refuses(step) ?? (this.device ? undefined : 'ENODEV');
        if (reason !== undefined) return rejectionOf(`${kind} ${address}`, reason);
        if (kind === 'add') this.device!.add(address);
        else this.device!.delete(address);
        this.journal.push(`${kind} ${address}`);
        return undefined;
      }),
    );
  }

  async removeDevice(): Promise<void> {
    this.check();
    if (this.device) this.journal.push('remove device');
    this.device = undefined;
    return Promise.resolve();
  }

  close(): void {
    this.outage = new Error('addresses in memory are closed');
  }

  private check(): void {
    if (this.outage) throw this.outage;
  }
}
