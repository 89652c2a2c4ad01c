import { NO_PROCESS, type Change } from '../change.js';
import { addressBytes, addressText, familyOf } from '../netlink/addresses.js';
import { AF_INET6, EADDRNOTAVAIL, EEXIST, ENODEV } from '../netlink/numbers.js';
import type { DeviceAddress, Link } from './link.js';
import { isWithin } from './prefix.js';
import { IFF, SCOPE } from './rtnetlink.js';

/** What happens to devices and addresses. */
export type LinkEvent =
  | {
      readonly kind: 'link' | 'link gone';
      readonly link: Link;
      /** Which of its flags changed. */
      readonly change: number;
    }
  | { readonly kind: 'address' | 'address gone'; readonly address: DeviceAddress };

/** A device to make. */
export interface NewLink {
  readonly name: string;
  /** Empty for hardware. */
  readonly kind: string;
  readonly flags?: number;
}

const ALL_FLAGS = 0xffff_ffff;

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
    this.addLink({ name: 'lo', kind: '', flags: IFF.UP | IFF.LOOPBACK | IFF.RUNNING | IFF.LOWER_UP });
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
    if (this.owners.has(address)) return true;
    return address.startsWith('127.');
  }

  addLink({ name, kind, flags = defaultFlags(kind) }: NewLink, process = NO_PROCESS): number {
    if (this.byName.has(name)) return EEXIST;
    const index = this.nextIndex++;
    const isLoopback = (flags & IFF.LOOPBACK) !== 0;
    const link: Link = {
      ...{ index, name, kind, flags, mtu: isLoopback ? 65_536 : 1_500 },
      hardwareAddress: isLoopback ? Buffer.alloc(6) : Buffer.of(2, 0, 0, 0, index >>> 8, index & 0xff),
    };
    this.addressesOf.set(index, new Map());
    this.put(link);
    this.changed({ kind: 'link', link, change: ALL_FLAGS }, process);
    return 0;
  }

  /** It loses its addresses of IPv6 when it goes down, as usual. */
  setUp(name: string, isUp: boolean, process = NO_PROCESS): number {
    const link = this.byName.get(name);
    if (!link) return ENODEV;
    const running = IFF.UP | IFF.RUNNING | IFF.LOWER_UP;
    const flags = isUp ? link.flags | running : link.flags & ~running;
    if (flags === link.flags) return 0;
    if (!isUp) this.dropAddresses(link, ({ address }) => familyOf(address) === AF_INET6);
    const changed = { ...link, flags };
    this.put(changed);
    const addresses = this.addressesOf.get(link.index)!;
    for (const [key, address] of addresses) addresses.set(key, { ...address, device: changed });
    this.changed({ kind: 'link', link: changed, change: flags ^ link.flags }, process);
    return 0;
  }

  /** Its addresses go with it. */
  removeLink(name: string, process = NO_PROCESS): number {
    const link = this.byName.get(name);
    if (!link) return ENODEV;
    this.dropAddresses(link, () => true);
    this.byName.delete(name);
    this.byIndex.delete(link.index);
    this.addressesOf.delete(link.index);
    this.changed({ kind: 'link gone', link, change: ALL_FLAGS }, process);
    return 0;
  }

  addAddress(
    device: string,
    text: string,
    prefixLength: number,
    { peer = text, scope }: { readonly peer?: string; readonly scope?: number } = {},
    process = NO_PROCESS,
  ): number {
    const link = this.byName.get(device);
    if (!link) return ENODEV;
    const address = canonical(text);
    const added = {
      device: link,
      address,
      prefixLength,
      peer: canonical(peer),
      scope: scope ?? scopeOf(address),
    };
    const addresses = this.addressesOf.get(link.index)!;
    const key = keyOf(added);
    if (addresses.has(key)) return EEXIST;
    addresses.set(key, added);
    this.owners.set(address, (this.owners.get(address) ?? 0) + 1);
    this.changed({ kind: 'address', address: added }, process);
    return 0;
  }

  /** @param prefixLength of whichever length if it is undefined */
  removeAddress(device: string, text: string, prefixLength?: number, process = NO_PROCESS): number {
    const link = this.byName.get(device);
    if (!link) return ENODEV;
    const address = canonical(text);
    const addresses = this.addressesOf.get(link.index)!;
    const isMeant = (found: DeviceAddress | undefined): boolean =>
      found?.address === address && (prefixLength ?? found.prefixLength) === found.prefixLength;
    const likely = keyOf({ address, prefixLength: prefixLength ?? 0, peer: address });
    const key = isMeant(addresses.get(likely))
      ? likely
      : [...addresses.keys()].find((other) => isMeant(addresses.get(other)));
    const found = key === undefined ? undefined : addresses.get(key);
    if (key === undefined || !found) return EADDRNOTAVAIL;
    this.drop(link, key, found);
    this.changed({ kind: 'address gone', address: found }, process);
    return 0;
  }

  private put(link: Link): void {
    this.byIndex.set(link.index, link);
    this.byName.set(link.name, link);
  }

  private dropAddresses(link: Link, isMeant: (address: DeviceAddress) => boolean): void {
    for (const [key, address] of this.addressesOf.get(link.index)!) {
      if (!isMeant(address)) continue;
      this.drop(link, key, address);
      this.version++;
      this.onEvent({ kind: 'address gone', address });
    }
  }

  private drop(link: Link, key: string, { address }: DeviceAddress): void {
    this.addressesOf.get(link.index)!.delete(key);
    const left = this.owners.get(address)! - 1;
    if (left === 0) this.owners.delete(address);
    else this.owners.set(address, left);
  }

  private changed(event: LinkEvent, process: number): void {
    this.version++;
    this.onEvent(event);
    this.onChange({ process });
  }
}

/** What the kernel compares: of IPv4 also the other end's prefix. */
function keyOf({
  address,
  prefixLength,
  peer,
}: Pick<DeviceAddress, 'address' | 'prefixLength' | 'peer'>): string {
  return familyOf(address) === AF_INET6 ? address : `${address}/${prefixLength} ${peer}`;
}

function scopeOf(address: string): number {
  if (address === '::1' || address.startsWith('127.')) return SCOPE.HOST;
  const isLinkLocal =
    familyOf(address) === AF_INET6 && isWithin(addressBytes(address), addressBytes('fe80::'), 10);
  return isLinkLocal ? SCOPE.LINK : SCOPE.UNIVERSE;
}

function defaultFlags(kind: string): number {
  if (kind === 'dummy') return IFF.BROADCAST | IFF.NOARP;
  return IFF.UP | IFF.BROADCAST | IFF.MULTICAST | IFF.RUNNING | IFF.LOWER_UP;
}

function canonical(address: string): string {
  return familyOf(address) === AF_INET6 ? addressText(addressBytes(address)) : address;
}
