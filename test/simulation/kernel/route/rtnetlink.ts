/** Numbers of linux/rtnetlink.h, linux/if.h, linux/if_link.h, linux/if_addr.h, linux/if_arp.h and linux/neighbour.h. */

export const RTM = {
  NEWLINK: 16,
  DELLINK: 17,
  GETLINK: 18,
  SETLINK: 19,
  NEWADDR: 20,
  DELADDR: 21,
  GETADDR: 22,
  NEWROUTE: 24,
  GETROUTE: 26,
  NEWNEIGH: 28,
  GETNEIGH: 30,
} as const;

/** RTNLGRP_… */
export const GROUP = { LINK: 1, IPV4_ADDRESS: 5, IPV6_ADDRESS: 9 } as const;

export const IFLA = { ADDRESS: 1, BROADCAST: 2, IFNAME: 3, MTU: 4, OPERSTATE: 16, LINKINFO: 18 } as const;
export const IFLA_INFO_KIND = 1;
/** IF_OPER_… */
export const OPERSTATE = { UNKNOWN: 0, DOWN: 2, UP: 6 } as const;

export const IFF = {
  UP: 0x1,
  BROADCAST: 0x2,
  LOOPBACK: 0x8,
  POINTOPOINT: 0x10,
  RUNNING: 0x40,
  NOARP: 0x80,
  MULTICAST: 0x1000,
  LOWER_UP: 0x10000,
} as const;

export const ARPHRD = { ETHER: 1, LOOPBACK: 772, NONE: 0xfffe } as const;

export const IFA = { ADDRESS: 1, LOCAL: 2, LABEL: 3, FLAGS: 8 } as const;
export const IFA_F = { TENTATIVE: 0x40, PERMANENT: 0x80 } as const;
export const SCOPE = { UNIVERSE: 0, LINK: 253, HOST: 254 } as const;

export const RTA = { DST: 1, SRC: 2, OIF: 4, GATEWAY: 5, PREFSRC: 7, TABLE: 15 } as const;
/** RTN_… */
export const ROUTE_TYPE = { unicast: 1, local: 2, blackhole: 6, unreachable: 7, prohibit: 8 } as const;
export const RTPROT = { UNSPEC: 0, KERNEL: 2, STATIC: 4 } as const;
export const TABLE = { MAIN: 254, LOCAL: 255 } as const;

export const NDA_DST = 1;
/** NUD_… */
export const NEIGHBOUR_STATE = {
  incomplete: 0x01,
  reachable: 0x02,
  stale: 0x04,
  delay: 0x08,
  probe: 0x10,
  failed: 0x20,
  permanent: 0x80,
} as const;

/** Longest name of a device, with its zero byte. */
export const IFNAMSIZ = 16;
