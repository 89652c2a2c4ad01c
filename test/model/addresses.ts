import { BlockList, isIP, SocketAddress } from 'node:net';

export type Family = 'IPv4' | 'IPv6';

export const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/** Of an address or a network; undefined if it is neither. */
export function familyOf(text: string): Family | undefined {
  const version = isIP(text.split('/')[0]!);
  return version === 4 ? 'IPv4' : version === 6 ? 'IPv6' : undefined;
}

/** The one text of an address, as endpoints and packets are compared. Undefined if it is none. */
export function canonical(text: string): string | undefined {
  const family = familyOf(text);
  if (family === undefined || text.includes('/')) return undefined;
  return new SocketAddress({ address: text, family: family === 'IPv4' ? 'ipv4' : 'ipv6' }).address;
}

/** A set of networks, of both families. */
export class Networks {
  private readonly list = new BlockList();

  /** @param texts those that are no network are left out */
  constructor(readonly texts: readonly string[]) {
    for (const text of texts) {
      const [address = '', length = ''] = text.trim().split('/');
      const family = familyOf(address);
      if (family) this.list.addSubnet(address, Number(length), family === 'IPv4' ? 'ipv4' : 'ipv6');
    }
  }

  has(address: string): boolean {
    return this.list.check(address, familyOf(address) === 'IPv4' ? 'ipv4' : 'ipv6');
  }

  of(family: Family): readonly string[] {
    return this.texts.filter((text) => familyOf(text.trim()) === family);
  }
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function place({ address, port }: { readonly address: string; readonly port: number }): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
