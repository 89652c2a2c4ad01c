/** Numbers of linux/netfilter/nf_tables.h and nfnetlink.h, as the kernel has them. */

export const BATCH_BEGIN = 0x10;
export const BATCH_END = 0x11;
export const BATCH_GENID = 1;
export const SUBSYSTEM = 10;

/** The lower byte of a message's type. */
export const MSG = {
  NEWTABLE: 0,
  GETTABLE: 1,
  DELTABLE: 2,
  NEWCHAIN: 3,
  GETCHAIN: 4,
  DELCHAIN: 5,
  NEWRULE: 6,
  GETRULE: 7,
  DELRULE: 8,
  NEWSET: 9,
  GETSET: 10,
  DELSET: 11,
  NEWSETELEM: 12,
  GETSETELEM: 13,
  DELSETELEM: 14,
  NEWGEN: 15,
  GETGEN: 16,
  NEWOBJ: 18,
  GETOBJ: 19,
  DELOBJ: 20,
  DESTROYTABLE: 26,
  DESTROYCHAIN: 27,
  DESTROYRULE: 28,
  DESTROYSET: 29,
  DESTROYSETELEM: 30,
  DESTROYOBJ: 31,
} as const;

/** Families of tables. */
export const FAMILY = { ANY: 0, INET: 1, IP: 2, ARP: 3, NETDEV: 5, BRIDGE: 7, IP6: 10 } as const;

export const TABLE = { NAME: 1, FLAGS: 2, USE: 3, HANDLE: 4, USERDATA: 6, OWNER: 7 } as const;
export const TABLE_FLAG = { DORMANT: 1, OWNER: 2, PERSIST: 4 } as const;
export const CHAIN = {
  TABLE: 1,
  HANDLE: 2,
  NAME: 3,
  HOOK: 4,
  POLICY: 5,
  USE: 6,
  TYPE: 7,
  FLAGS: 10,
  ID: 11,
  USERDATA: 12,
} as const;
export const CHAIN_FLAG = { BASE: 1, HW_OFFLOAD: 2, BINDING: 4 } as const;
export const HOOK = { NUMBER: 1, PRIORITY: 2 } as const;
export const RULE = {
  TABLE: 1,
  CHAIN: 2,
  HANDLE: 3,
  EXPRESSIONS: 4,
  POSITION: 6,
  USERDATA: 7,
  ID: 9,
  POSITION_ID: 10,
} as const;
export const SET = {
  TABLE: 1,
  NAME: 2,
  FLAGS: 3,
  KEY_TYPE: 4,
  KEY_LEN: 5,
  DATA_TYPE: 6,
  DATA_LEN: 7,
  POLICY: 8,
  DESC: 9,
  ID: 10,
  TIMEOUT: 11,
  GC_INTERVAL: 12,
  USERDATA: 13,
  OBJ_TYPE: 15,
  HANDLE: 16,
  EXPR: 17,
  EXPRESSIONS: 18,
  COUNT: 20,
} as const;
export const SET_FLAG = {
  ANONYMOUS: 1,
  CONSTANT: 2,
  INTERVAL: 4,
  MAP: 8,
  TIMEOUT: 0x10,
  EVAL: 0x20,
  OBJECT: 0x40,
  CONCAT: 0x80,
  EXPR: 0x100,
} as const;
export const DESC = { SIZE: 1, CONCAT: 2 } as const;
export const FIELD_LEN = 1;
export const ELEMENTS = { TABLE: 1, SET: 2, LIST: 3, SET_ID: 4 } as const;
export const ELEMENT = {
  KEY: 1,
  DATA: 2,
  FLAGS: 3,
  TIMEOUT: 4,
  EXPIRATION: 5,
  USERDATA: 6,
  EXPR: 7,
  OBJREF: 9,
  KEY_END: 10,
  EXPRESSIONS: 11,
} as const;
export const ELEMENT_FLAG = { INTERVAL_END: 1, CATCHALL: 2 } as const;
export const OBJECT = { TABLE: 1, NAME: 2, TYPE: 3, DATA: 4, USE: 5, HANDLE: 6, USERDATA: 8 } as const;
export const OBJECT_COUNTER = 1;
export const COUNTER = { BYTES: 1, PACKETS: 2 } as const;
export const GEN = { ID: 1, PROC_PID: 2, PROC_NAME: 3 } as const;
export const LIST_ELEM = 1;
export const EXPR = { NAME: 1, DATA: 2 } as const;
export const DATA = { VALUE: 1, VERDICT: 2 } as const;
export const VERDICT = { CODE: 1, CHAIN: 2 } as const;
export const VERDICT_CODE = {
  DROP: 0,
  ACCEPT: 1,
  QUEUE: 3,
  CONTINUE: -1,
  BREAK: -2,
  JUMP: -3,
  GOTO: -4,
  RETURN: -5,
} as const;
export const DATA_VERDICT = 0xffff_ff00;
/** Bytes of a verdict, as the length of data. */
export const VERDICT_LENGTH = 16;

export const MAX_VALUE_LENGTH = 64;
export const MAX_USERDATA_LENGTH = 256;
export const MAX_EXPRESSIONS = 128;
export const JUMP_STACK_SIZE = 16;
/** NFNLGRP_NFTABLES. */
export const GROUP = 7;
