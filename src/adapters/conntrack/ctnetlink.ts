/** The constants of linux/netfilter/nfnetlink_conntrack.h that are used here. */

const NFNL_SUBSYS_CTNETLINK = 1 << 8;
/** Makes a connection, or changes one. */
export const CT_NEW = NFNL_SUBSYS_CTNETLINK | 0;
export const CT_GET = NFNL_SUBSYS_CTNETLINK | 1;
export const CT_DELETE = NFNL_SUBSYS_CTNETLINK | 2;
/** Of events; `new` is also that of a change. */
export const CT_EVENT = { new: CT_NEW, delete: CT_DELETE } as const;
/** As bits: NFNLGRP_CONNTRACK_NEW, _UPDATE and _DESTROY. */
export const CT_EVENT_GROUPS = 0b111;

/** In place of one: of both. */
export const BOTH_FAMILIES = 0;
/** Bytes of struct nfgenmsg. */
export const GENERIC_HEADER_LENGTH = 4;

export const CTA = {
  TUPLE_ORIG: 1,
  TUPLE_REPLY: 2,
  STATUS: 3,
  PROTOINFO: 4,
  COUNTERS_ORIG: 9,
  COUNTERS_REPLY: 10,
  ID: 12,
  ZONE: 18,
  FILTER: 25,
  STATUS_MASK: 26,
} as const;
export const TUPLE = { IP: 1, PROTO: 2 } as const;
export const TUPLE_IP = { V4_SRC: 1, V4_DST: 2, V6_SRC: 3, V6_DST: 4 } as const;
export const TUPLE_PROTO = { NUM: 1, SRC_PORT: 2, DST_PORT: 3 } as const;
export const PROTOINFO = { TCP: 1, SCTP: 3 } as const;
export const PROTOINFO_TCP = { STATE: 1, FLAGS_ORIGINAL: 4, FLAGS_REPLY: 5 } as const;
export const PROTOINFO_SCTP = { STATE: 1 } as const;
export const COUNTERS = { PACKETS: 1, BYTES: 2 } as const;
export const FILTER = { ORIG_FLAGS: 1, REPLY_FLAGS: 2 } as const;
/** Which parts of the tuple a filter compares. */
export const FILTER_FLAG = {
  IP_SRC: 1 << 0,
  IP_DST: 1 << 1,
  PROTO_NUM: 1 << 3,
  PROTO_SRC_PORT: 1 << 4,
  PROTO_DST_PORT: 1 << 5,
} as const;

/** Bits of the status: packets have come back; the kernel is sure that packets flow both ways. */
export const STATUS_SEEN_REPLY = 1 << 1;
export const STATUS_ASSURED = 1 << 2;
/** A flow table of the network devices, or one in hardware, forwards it; connection tracking does not see its packets. */
export const STATUS_OFFLOADED = (1 << 14) | (1 << 15);
/** States of a TCP connection (linux/netfilter/nf_conntrack_tcp.h) after both ends have closed it. */
export const TCP_TIME_WAIT = 7;
export const TCP_CLOSE = 8;
/** State of an SCTP association that has ended (linux/netfilter/nf_conntrack_sctp.h). */
export const SCTP_CLOSED = 1;
/**
 * Flags of one direction of a TCP connection (IP_CT_TCP_FLAG_… of linux/netfilter/nf_conntrack_tcp.h). The kernel sets the second one
 * with each packet of this direction that acknowledges something, as all do except the first, and uses it only to
 * recognize resets that are too old. So after clearing it, the next poll shows whether there was a packet.
 */
export const TCP_DATA_UNACKNOWLEDGED = 0x10;
export const TCP_MAXACK_SET = 0x20;
