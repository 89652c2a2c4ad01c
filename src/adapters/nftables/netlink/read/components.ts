import type { IpFamily } from '../../../../domain/net/ip-family.js';
import type { DataType } from '../../../../domain/nftables/layout/table.js';

/** The encoding of one component of a key or value. Numbers, so that scanning a million of them needs no string comparison. */
export const enum Component {
  IPv4Address,
  IPv6Address,
  Protocol,
  Port,
  Priority,
  Slot,
}

/** The component of a data type in a family. */
export function componentOf(family: IpFamily, type: DataType): Component {
  switch (type) {
    case 'address':
      return family === 'IPv4' ? Component.IPv4Address : Component.IPv6Address;
    case 'protocol':
      return Component.Protocol;
    case 'port':
      return Component.Port;
    case 'priority':
      return Component.Priority;
    case 'slot':
      return Component.Slot;
  }
}

/** Bytes of a component in a concatenation. */
export function slotLength(component: Component): 4 | 16 {
  return component === Component.IPv6Address ? 16 : 4;
}

/** A component's type: its name and number in nft (docs/spec/nft-netlink.md §7.1), and its bytes; the rest of a slot is zero. */
interface ComponentType {
  readonly name: string;
  readonly number: number;
  readonly length: 1 | 2 | 4 | 16;
}

const TYPES: Readonly<Record<Component, ComponentType>> = {
  [Component.IPv4Address]: { name: 'ipv4_addr', number: 7, length: 4 },
  [Component.IPv6Address]: { name: 'ipv6_addr', number: 8, length: 16 },
  [Component.Protocol]: { name: 'inet_proto', number: 12, length: 1 },
  [Component.Port]: { name: 'inet_service', number: 13, length: 2 },
  [Component.Priority]: { name: 'classid', number: 23, length: 4 },
  [Component.Slot]: { name: 'integer', number: 4, length: 4 },
};

export function typeOf(component: Component): ComponentType {
  return TYPES[component];
}
