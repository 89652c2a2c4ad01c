import type { PacketForwarding, Route, Routes } from '../../src/application/ports/node/network.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';

/** Settings of a kernel that a test sets. */
export class MemoryForwarding implements PacketForwarding {
  /** By family, or by device. */
  readonly off = new Map<string, string>();
  readonly unfiltered = new Map<string, string>();
  isClosed = false;

  disabledBy(family: IpFamily, device?: string): string | undefined {
    return this.off.get(device ?? '') ?? this.off.get(family);
  }

  unfilteredBy(_: IpFamily, device: string): Promise<string | undefined> {
    return Promise.resolve(this.unfiltered.get(device));
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

/** Routes by destination. */
export class MemoryRoutes implements Routes {
  lookups = 0;

  constructor(private readonly devices: Readonly<Record<string, Partial<Route>>>) {}

  to(address: string): Promise<Route | undefined> {
    this.lookups++;
    const route = this.devices[address];
    return Promise.resolve(route && { source: '192.0.2.4', device: 'eth0', ...route });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
