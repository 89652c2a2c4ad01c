/** Numbers of linux/netfilter/nfnetlink_conntrack.h and nf_conntrack_common.h. */

const SUBSYSTEM = 1 << 8;
export const MESSAGE = { NEW: SUBSYSTEM, GET: SUBSYSTEM | 1, DELETE: SUBSYSTEM | 2 } as const;

/** NFNLGRP_CONNTRACK_… */
export const GROUP = { NEW: 1, UPDATE: 2, DESTROY: 3 } as const;

export const CTA = {
  TUPLE_ORIG: 1,
  TUPLE_REPLY: 2,
  STATUS: 3,
  PROTOINFO: 4,
  TIMEOUT: 7,
  MARK: 8,
  COUNTERS_ORIG: 9,
  COUNTERS_REPLY: 10,
  USE: 11,
  ID: 12,
  ZONE: 18,
  TIMESTAMP: 20,
  MARK_MASK: 21,
  FILTER: 25,
  STATUS_MASK: 26,
} as const;
export const CTA_TUPLE = { IP: 1, PROTO: 2 } as const;
export const CTA_IP = { V4_SRC: 1, V4_DST: 2, V6_SRC: 3, V6_DST: 4 } as const;
export const CTA_PROTO = { NUM: 1, SRC_PORT: 2, DST_PORT: 3 } as const;
export const CTA_PROTOINFO = { TCP: 1, SCTP: 3 } as const;
export const CTA_TCP = { STATE: 1, WSCALE_ORIG: 2, WSCALE_REPLY: 3, FLAGS_ORIG: 4, FLAGS_REPLY: 5 } as const;
export const CTA_SCTP = { STATE: 1, VTAG_ORIG: 2, VTAG_REPLY: 3 } as const;
export const CTA_COUNTERS = { PACKETS: 1, BYTES: 2 } as const;
export const CTA_TIMESTAMP = { START: 1, STOP: 2 } as const;
export const CTA_FILTER = { ORIG_FLAGS: 1, REPLY_FLAGS: 2 } as const;

/** Which parts of a tuple a filter compares. */
export const COMPARE = {
  SOURCE: 1,
  DESTINATION: 2,
  ZONE: 4,
  PROTOCOL: 8,
  SOURCE_PORT: 16,
  DESTINATION_PORT: 32,
} as const;
export const COMPARABLE = (1 << 11) - 1;

/** IPS_… */
export const STATUS = {
  SEEN_REPLY: 1 << 1,
  ASSURED: 1 << 2,
  CONFIRMED: 1 << 3,
  SRC_NAT: 1 << 4,
  DST_NAT: 1 << 5,
  SRC_NAT_DONE: 1 << 7,
  DST_NAT_DONE: 1 << 8,
  DYING: 1 << 9,
} as const;
/** Those that never change once they are set, as far as requests go. */
export const UNCHANGEABLE = STATUS.SEEN_REPLY | STATUS.ASSURED | STATUS.CONFIRMED | STATUS.DYING;

/** IP_CT_TCP_FLAG_… of a direction: its last data is unacknowledged; it has acknowledged something. */
export const TCP_FLAG = { DATA_UNACKNOWLEDGED: 0x10, MAXACK_SET: 0x20 } as const;

export const IPPROTO = { TCP: 6, UDP: 17, SCTP: 132 } as const;
/** TCP_CONNTRACK_… */
export const TCP = { SYN_SENT: 1, SYN_RECV: 2, ESTABLISHED: 3, TIME_WAIT: 7 } as const;
/** SCTP_CONNTRACK_… */
export const SCTP = { COOKIE_WAIT: 2, ESTABLISHED: 4 } as const;
