/** Numbers of linux/netfilter/nf_tables.h and nfnetlink.h, as far as used here (docs/internals/spec/nft-netlink.md §5, §6, §9). */

export const NFNL_MSG_BATCH_BEGIN = 0x10;
export const NFNL_MSG_BATCH_END = 0x11;

const NF_TABLES = 10 << 8;
export const NEWTABLE = NF_TABLES | 0;
export const GETTABLE = NF_TABLES | 1;
export const DELTABLE = NF_TABLES | 2;
export const NEWCHAIN = NF_TABLES | 3;
export const GETCHAIN = NF_TABLES | 4;
export const DELCHAIN = NF_TABLES | 5;
export const NEWRULE = NF_TABLES | 6;
export const GETRULE = NF_TABLES | 7;
export const DELRULE = NF_TABLES | 8;
export const NEWSET = NF_TABLES | 9;
export const GETSET = NF_TABLES | 10;
export const DELSET = NF_TABLES | 11;
export const NEWSETELEM = NF_TABLES | 12;
export const GETSETELEM = NF_TABLES | 13;
export const DELSETELEM = NF_TABLES | 14;
export const NEWGEN = NF_TABLES | 15;
export const GETGEN = NF_TABLES | 16;
export const NEWOBJ = NF_TABLES | 18;
export const GETOBJ = NF_TABLES | 19;
export const DELOBJ = NF_TABLES | 20;
/** The multicast group of all notifications of nf_tables, NFNLGRP_NFTABLES, as a bit. */
export const NOTIFICATIONS = 1 << 6;

/** In place of the number of an IP family: tables for both. */
export const INET_WORD = 1;
/** The same before and after a batch: family 0, and the subsystem as resource id in network byte order. */
export const BATCH_WORD = 10 << 24;

/** Flag of a table whose chains are not run. */
export const DORMANT = 1;
/** Flag of a chain without a name of its own, which belongs to the rule that leads to it. */
export const BINDING = 4;
export const ELEMENTS = { TABLE: 1, SET: 2, LIST: 3 } as const;
export const ELEMENT = {
  KEY: 1,
  DATA: 2,
  FLAGS: 3,
  USERDATA: 6,
  EXPRESSION: 7,
  LAST_KEY: 10,
  EXPRESSIONS: 11,
} as const;
export const ELEMENT_FLAG = { INTERVAL_END: 1, CATCH_ALL: 2 } as const;
export const DATA = { VALUE: 1, VERDICT: 2 } as const;
export const LIST_ELEMENT = 1;
export const EXPRESSION = { NAME: 1, DATA: 2 } as const;

/** The type of named objects that count. */
export const OBJECT_COUNTER = 1;

export const SET_FLAG = { ANONYMOUS: 1, INTERVAL: 4, MAP: 8, TIMEOUT: 0x10, EVAL: 0x20 } as const;

/** nft's type number of verdicts, and the length that it sends for them. */
export const VERDICT_TYPE = 0xffffff00;

/** Verdicts, as unsigned numbers. */
export const VERDICT_CODES = {
  drop: 0,
  accept: 1,
  jump: 0xfffffffd,
  goto: 0xfffffffc,
  return: 0xfffffffb,
} as const;

/** Types of userdata entries, in which nft stores what the kernel has no field for (docs/internals/spec/nft-netlink.md §11). */
export const USERDATA = {
  COMMENT: 0,
  KEY_BYTE_ORDER: 0,
  DATA_BYTE_ORDER: 1,
  KEY_TYPEOF: 3,
  DATA_TYPEOF: 4,
  DATA_INTERVAL: 6,
  SET_COMMENT: 7,
  /** Of an element: its digest, eight bytes. Our own number; nft skips unknown numbers. */
  DIGEST: 64,
} as const;

/** A digest is stored as a number of 64 bits. */
export const DIGEST_LENGTH = 8;
