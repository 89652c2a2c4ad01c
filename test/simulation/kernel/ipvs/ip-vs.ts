/** Numbers of linux/ip_vs.h. */

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
  GET_CONFIG: 13,
  SET_INFO: 14,
  GET_INFO: 15,
  ZERO: 16,
  FLUSH: 17,
} as const;

export const CMD_ATTR = { SERVICE: 1, DEST: 2, TIMEOUT_TCP: 4, TIMEOUT_TCP_FIN: 5, TIMEOUT_UDP: 6 } as const;
export const MAX_CMD_ATTR = 6;
export const SVC_ATTR = {
  AF: 1,
  PROTOCOL: 2,
  ADDR: 3,
  PORT: 4,
  FWMARK: 5,
  SCHED_NAME: 6,
  FLAGS: 7,
  TIMEOUT: 8,
  NETMASK: 9,
  STATS: 10,
} as const;
export const DEST_ATTR = {
  ADDR: 1,
  PORT: 2,
  FWD_METHOD: 3,
  WEIGHT: 4,
  U_THRESH: 5,
  L_THRESH: 6,
  ACTIVE_CONNS: 7,
  INACT_CONNS: 8,
  PERSIST_CONNS: 9,
  STATS: 10,
  ADDR_FAMILY: 11,
} as const;
export const INFO_ATTR = { VERSION: 1, CONN_TAB_SIZE: 2 } as const;

/** IP_VS_SVC_F_HASHED, which every service has that is there. */
export const HASHED = 0x2;
/** IP_VS_CONN_F_FWD_MASK, and its value for tunnels. */
export const FORWARDING = 0x7;
export const TUNNEL = 0x2;

/** Longest name of a scheduler. */
export const MAX_SCHEDULER = 15;
/** IP_VS_CONN_TAB_SIZE and the version, 1.2.1. */
export const TABLE_SIZE = 4096;
export const IPVS_VERSION = 0x010201;
