import type { IpFamily } from '../../../../domain/net/ip-family.js';
import type { DataType } from '../../../../domain/nftables/layout/table.js';

/** The encoding of one component of a key or value. Numbers, so that scanning a million of them needs no string comparison. */
export const enum Component {
  IPv4Address,
  IPv6Address,
  Protocol,
  Port,
  Priority,
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
  }
}

/** Bytes of a component in a concatenation. */
export function slotLength(component: Component): 4 | 16 {
  return component === Component.IPv6Address ? 16 : 4;
}

/** Bytes of the component's own type; the rest of its slot is zero. */
export function ownLength(component: Component): 1 | 2 | 4 | 16 {
  switch (component) {
    case Component.Protocol:
      return 1;
    case Component.Port:
      return 2;
    case Component.IPv6Address:
      return 16;
    default:
      return 4;
  }
}

/** nft's number of the component's type (docs/spec/nft-netlink.md §7.1; classid is 23). */
export function typeNumber(component: Component): number {
  switch (component) {
    case Component.IPv4Address:
      return 7;
    case Component.IPv6Address:
      return 8;
    case Component.Protocol:
      return 12;
    case Component.Port:
      return 13;
    case Component.Priority:
      return 23;
  }
}
