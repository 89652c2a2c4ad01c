import { numbered } from '../netlink/numbers.js';

/* Numbers of linux/netfilter/nf_tables.h and nfnetlink.h, as the kernel has them. */

export const [BATCH_BEGIN, BATCH_END] = [0x10, 0x11] as const;
export const SUBSYSTEM = 10;
/** The lower byte of a message's type. */
export const MSG = {
  ...numbered(
    'NEWTABLE GETTABLE DELTABLE NEWCHAIN GETCHAIN DELCHAIN NEWRULE GETRULE DELRULE NEWSET GETSET DELSET',
  ),
  ...numbered('NEWSETELEM GETSETELEM DELSETELEM NEWGEN GETGEN - NEWOBJ GETOBJ DELOBJ', 12),
};
/** Families of tables. */
export const FAMILY = { ANY: 0, INET: 1, IP: 2, ARP: 3, NETDEV: 5, BRIDGE: 7, IP6: 10 } as const;

export const TABLE = numbered('NAME FLAGS USE HANDLE - USERDATA', 1);
export const CHAIN = numbered('TABLE HANDLE NAME HOOK POLICY USE TYPE - - FLAGS - USERDATA', 1);
export const CHAIN_FLAG = { BASE: 1 } as const;
export const HOOK = { NUMBER: 1, PRIORITY: 2 } as const;
export const RULE = numbered('TABLE CHAIN HANDLE EXPRESSIONS - POSITION USERDATA', 1);
export const SET = numbered(
  'TABLE NAME FLAGS KEY_TYPE KEY_LEN DATA_TYPE DATA_LEN - DESC ID TIMEOUT - USERDATA - - HANDLE - - - COUNT',
  1,
);
export const SET_FLAG = {
  ...{ ANONYMOUS: 1, CONSTANT: 2, INTERVAL: 4, MAP: 8, TIMEOUT: 0x10, EVAL: 0x20 },
  ...{ OBJECT: 0x40, CONCAT: 0x80, EXPR: 0x100 },
} as const;
export const DESC = { SIZE: 1 } as const;
export const ELEMENTS = { TABLE: 1, SET: 2, LIST: 3, SET_ID: 4 } as const;
export const ELEMENT = numbered('KEY DATA FLAGS TIMEOUT EXPIRATION USERDATA', 1);
export const ELEMENT_FLAG = { INTERVAL_END: 1, CATCHALL: 2 } as const;
export const OBJECT = numbered('TABLE NAME TYPE DATA USE HANDLE - USERDATA', 1);
export const OBJECT_COUNTER = 1;
export const COUNTER = { BYTES: 1, PACKETS: 2 } as const;
export const GEN = { ID: 1, PROC_PID: 2, PROC_NAME: 3 } as const;
export const LIST_ELEM = 1;
export const EXPR = { NAME: 1, DATA: 2 } as const;
export const DATA = { VALUE: 1, VERDICT: 2 } as const;
export const VERDICT = { CODE: 1, CHAIN: 2 } as const;
export const VERDICT_CODE = {
  ...{ DROP: 0, ACCEPT: 1, QUEUE: 3, CONTINUE: -1, BREAK: -2, JUMP: -3, GOTO: -4, RETURN: -5 },
} as const;
export const DATA_VERDICT = 0xffff_ff00;
/** Bytes of a verdict, as the length of data. */
export const VERDICT_LENGTH = 16;

export const MAX_VALUE_LENGTH = 64;
export const MAX_USERDATA_LENGTH = 256;
/** NFNLGRP_NFTABLES. */
export const GROUP = 7;
