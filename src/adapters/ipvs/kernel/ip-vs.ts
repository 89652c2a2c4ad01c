/** The names and numbers of linux/ip_vs.h that are used here (docs/spec/ipvs.md §4.8). */

export const FAMILY_NAME = 'IPVS';
export const VERSION = 1;

export const COMMAND = {
  NEW_SERVICE: 1,
  SET_SERVICE: 2,
  DEL_SERVICE: 3,
  GET_SERVICE: 4,
  NEW_DEST: 5,
  SET_DEST: 6,
  DEL_DEST: 7,
  GET_DEST: 8,
  SET_CONFIG: 12,
} as const;

/** Attributes of a message. */
export const ATTRIBUTE = { SERVICE: 1, DEST: 2, TIMEOUT_TCP: 4, TIMEOUT_TCP_FIN: 5, TIMEOUT_UDP: 6 } as const;

/** Attributes of a virtual server. */
export const SERVICE = {
  AF: 1,
  PROTOCOL: 2,
  ADDR: 3,
  PORT: 4,
  SCHED_NAME: 6,
  FLAGS: 7,
  TIMEOUT: 8,
  NETMASK: 9,
} as const;

/** Attributes of a real server. */
export const DEST = {
  ADDR: 1,
  PORT: 2,
  FWD_METHOD: 3,
  WEIGHT: 4,
  U_THRESH: 5,
  L_THRESH: 6,
  ACTIVE_CONNS: 7,
  INACT_CONNS: 8,
  ADDR_FAMILY: 11,
} as const;

/** The flag that the kernel sets on every virtual server that it lists (`IP_VS_SVC_F_HASHED`). */
export const HASHED = 0x2;
/** Rewrites the destination of packets (`IP_VS_CONN_F_MASQ`). */
export const MASQUERADING = 0;
