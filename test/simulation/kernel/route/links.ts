import { NO_PROCESS, type Change } from '../change.js';
import { addressBytes, addressText, familyOf } from '../netlink/addresses.js';
import { AF, E } from '../netlink/numbers.js';

/** Of linux/if.h. */
export const IFF = {
  ...{ UP: 0x1, BROADCAST: 0x2, LOOPBACK: 0x8, RUNNING: 0x40, NOARP: 0x80 },
  ...{ MULTICAST: 0x1000, LOWER_UP: 0x10000 },
} as const;
/** RT_SCOPE_… */
const SCOPE = { UNIVERSE: 0, LINK: 253, HOST: 254 } as const;
const ALL_FLAGS = 0xffff_ffff;
const IS_RUNNING = IFF.UP | IFF.RUNNING | IFF.LOWER_UP;

/** A network device. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `dummy`, `veth`, …; empty for hardware and loopback. */
  readonly kind: string;
  /** IFF_… */
  readonly flags: number;
}

/** An address of a device. */
export interface DeviceAddress {
  readonly device: Link;
  /** Canonical. */
  readonly address: string;
  readonly prefixLength: number;
  /** RT_SCOPE_… */
  readonly scope: number;
}

/** What happens to devices and addresses. */
export type LinkEvent =
  /** With the flags that changed. */
  | { readonly kind: 'link' | 'link gone'; readonly link: Link; readonly change: number }
  | { readonly kind: 'address' | 'address gone'; readonly address: DeviceAddress };

/** Devices and their addresses. Methods that change something return an errno, 0 when it was done. */
export class Links {
  /** Told after each change. */
  onChange: (change: Change) => void = () => {};
  /** Told before `onChange`. */
  onEvent: (event: LinkEvent) => void = () => {};
  /** Changes with everything that is listed. */
  version = 1;
  private readonly byIndex = new Map<number, Link>();
  private readonly byName = new Map<string, Link>();
  /** Of each device, by their keys. */
  private readonly addressesOf = new Map<number, Map<string, DeviceAddress>>();
  /** How many devices have an address. */
  private readonly owners = new Map<string, number>();
  private nextIndex = 1;

  constructor() {
    this.addLink({ name: 'lo', kind: '', flags: IS_RUNNING | IFF.LOOPBACK });
    this.addAddress('lo', '127.0.0.1', 8);
    this.addAddress('lo', '::1', 128);
  }

  links(): IterableIterator<Link> {
    return this.byIndex.values();
  }

  link(indexOrName: number | string): Link | undefined {
    return typeof indexOrName === 'number' ? this.byIndex.get(indexOrName) : this.byName.get(indexOrName);
  }

  /** Of all devices, or of one, in the order of the devices. */
  *addresses(device?: string): Generator<DeviceAddress> {
    if (device === undefined) for (const link of this.byIndex.values()) yield* this.addresses(link.name);
    else yield* this.addressesOf.get(this.byName.get(device)?.index ?? 0)?.values() ?? [];
  }

  /** Whether packets to it are for this machine. */
  isLocal(address: string): boolean {
    return this.owners.has(address) || address.startsWith('127.');
  }

  /** @param added empty kind for hardware */
  addLink(
    added: { readonly name: string; readonly kind: string; readonly flags?: number },
    process = NO_PROCESS,
  ): number {
    const { name, kind, flags = defaultFlags(kind) } = added;
    if (this.byName.has(name)) return E.EEXIST;
    const link: Link = { index: this.nextIndex++, name, kind, flags };
    this.addressesOf.set(link.index, new Map());
    this.put(link);
    return this.changed({ kind: 'link', link, change: ALL_FLAGS }, process);
  }

  /** It loses its addresses of IPv6 when it goes down, as usual. */
  setUp(name: string, isUp: boolean, process = NO_PROCESS): number {
    const link = this.byName.get(name);
    if (!link) return E.ENODEV;
    const flags = isUp ? link.flags | IS_RUNNING : link.flags & ~IS_RUNNING;
    if (flags === link.flags) return 0;
    if (!isUp) this.dropAddresses(link, ({ address }) => familyOf(address) === AF.INET6);
    const changed = { ...link, flags };
    this.put(changed);
    const addresses = this.addressesOf.get(link.index)!;
    for (const [key, address] of addresses) addresses.set(key, { ...address, device: changed });
    return this.changed({ kind: 'link', link: changed, change: flags ^ link.flags }, process);
  }

  /** Its addresses go with it. */
  removeLink(name: string, process = NO_PROCESS): number {
    const link = this.byName.get(name);
    if (!link) return E.ENODEV;
    this.dropAddresses(link, () => true);
    this.byName.delete(name);
    this.byIndex.delete(link.index);
    this.addressesOf.delete(link.index);
    return this.changed({ kind: 'link gone', link, change: ALL_FLAGS }, process);
  }

  addAddress(
    device: string,
    text: string,
    prefixLength: number,
    { scope }: { readonly scope?: number } = {},
    process = NO_PROCESS,
  ): number {
    const link = this.byName.get(device);
    if (!link) return E.ENODEV;
    const address = canonical(text);
    const added = { device: link, address, prefixLength, scope: scope ?? scopeOf(address) };
    const addresses = this.addressesOf.get(link.index)!;
    if (addresses.has(keyOf(added))) return E.EEXIST;
    addresses.set(keyOf(added), added);
    this.owners.set(address, (this.owners.get(address) ?? 0) + 1);
    return this.changed({ kind: 'address', address: added }, process);
  }

  /** @param prefixLength of whichever length if it is undefined */
  removeAddress(device: string, text: string, prefixLength?: number, process = NO_PROCESS): number {
    const link = this.byName.get(device);
    if (!link) return E.ENODEV;
    const address = canonical(text);
    const addresses = this.addressesOf.get(link.index)!;
    const found =
      prefixLength === undefined
        ? [...addresses.values()].find((one) => one.address === address)
        : addresses.get(keyOf({ address, prefixLength }));
    if (!found || found.prefixLength !== (prefixLength ?? found.prefixLength)) return E.EADDRNOTAVAIL;
    this.drop(link, found);
    return this.changed({ kind: 'address gone', address: found }, process);
  }

  private put(link: Link): void {
    this.byIndex.set(link.index, link);
    this.byName.set(link.name, link);
  }

  private dropAddresses(link: Link, isMeant: (address: DeviceAddress) => boolean): void {
    for (const address of [...this.addressesOf.get(link.index)!.values()].filter(isMeant)) {
      this.drop(link, address);
      this.version++;
      this.onEvent({ kind: 'address gone', address });
    }
  }

  private drop(link: Link, address: DeviceAddress): void {
    this.addressesOf.get(link.index)!.delete(keyOf(address));
    const left = this.owners.get(address.address)! - 1;
    if (left === 0) this.owners.delete(address.address);
    else this.owners.set(address.address, left);
  }

  private changed(event: LinkEvent, process: number): 0 {
    this.version++;
    this.onEvent(event);
    this.onChange({ process });
    return 0;
  }
}

/** What the kernel compares: of IPv6 only the address. */
function keyOf({ address, prefixLength }: Pick<DeviceAddress, 'address' | 'prefixLength'>): string {
  return familyOf(address) === AF.INET6 ? address : `${address}/${prefixLength}`;
}

function scopeOf(address: string): number {
  if (address === '::1' || address.startsWith('127.')) return SCOPE.HOST;
  return /^fe[89ab]/.test(address) ? SCOPE.LINK : SCOPE.UNIVERSE;
}

function defaultFlags(kind: string): number {
  return kind === 'dummy' ? IFF.BROADCAST | IFF.NOARP : IS_RUNNING | IFF.BROADCAST | IFF.MULTICAST;
}

function canonical(address: string): string {
  return familyOf(address) === AF.INET6 ? addressText(addressBytes(address)) : address;
}
