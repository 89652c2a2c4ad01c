/** The constants of linux/rtnetlink.h, linux/if.h, linux/if_link.h, linux/if_addr.h and linux/neighbour.h that are used here. */

export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
export const RTM_GETADDR = 22;

export const RTM_GETROUTE = 26;
/** Its struct ndmsg: family and padding, the index of the device, then state (16 bits), flags and type. */
export const RTM_GETNEIGH = 30;

export const NDA_DST = 1;

/** States of neighbours, `NUD_…` of linux/neighbour.h, as `ip neighbour` prints them. */
export const NUD_STATES: ReadonlyMap<number, string> = new Map([
  [0x01, 'INCOMPLETE'],
  [0x02, 'REACHABLE'],
  [0x04, 'STALE'],
  [0x08, 'DELAY'],
  [0x10, 'PROBE'],
  [0x20, 'FAILED'],
  [0x40, 'NOARP'],
  [0x80, 'PERMANENT'],
]);

/** Multicast groups for notifications. */
export const RTMGRP_LINK = 0x1;
export const RTMGRP_IPV4_IFADDR = 0x10;
export const RTMGRP_IPV6_IFADDR = 0x100;

export const IFLA_IFNAME = 3;
export const IFLA_LINKINFO = 18;
export const IFLA_INFO_KIND = 1;
export const IFLA_INFO_DATA = 2;
export const IFLA_BR_NF_CALL_IPTABLES = 36;
export const IFLA_BR_NF_CALL_IP6TABLES = 37;

export const IFF_UP = 0x1;
export const IFF_POINTOPOINT = 0x10;

export const IFA_ADDRESS = 1;
export const IFA_LOCAL = 2;

export const RTA_DST = 1;
export const RTA_OIF = 4;
export const RTA_GATEWAY = 5;
export const RTA_PREFSRC = 7;

/** Types of routes that packets take; others refuse them. */
export const RTN_UNICAST = 1;
export const RTN_LOCAL = 2;

/** Bytes of struct rtmsg: family, lengths of the prefixes, TOS, table, protocol, scope and type, one byte each, then flags. */
export const ROUTE_HEADER_LENGTH = 12;
/** Bytes of struct ifinfomsg: family and type, index, flags, changed flags. */
export const LINK_HEADER_LENGTH = 16;
/** Bytes of struct ifaddrmsg: family, prefix length, flags and scope, one byte each, then the index of the device. */
export const ADDRESS_HEADER_LENGTH = 8;

export const AF_UNSPEC = 0;
