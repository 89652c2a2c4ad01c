import { NLM_F_APPEND, NLM_F_CREATE } from '../../../src/adapters/netlink/protocol.js';
import * as nf from '../../../src/adapters/nftables/netlink/nf-tables.js';
import type { RawAttributes, RawMessage } from '../../support/nftables/raw-message.js';

/* What nft 1.1 and other programs of today write: user data, expressions and flags of which this program knows nothing. */

export const FAMILY = { inet: 1, ip: 2, netdev: 5, ip6: 10 } as const;
const NEW_OBJECT = (10 << 8) | 18;
/** linux/netfilter/nf_tables.h */
export const TABLE_FLAG = { DORMANT: 1, OWNER: 2, PERSIST: 4 } as const;
const CHAIN_USERDATA = 12;
const SET_EXPRESSIONS = 18;
/** A flag of a set. */
const SEVERAL_EXPRESSIONS = 0x100;
const ELEMENT_EXPRESSIONS = nf.ELEMENT.EXPRESSIONS;
const OBJECT_USERDATA = 8;

const hex = (text: string): { readonly hex: string } => ({ hex: Buffer.from(text).toString('hex') });
/** No type, length and value: what a program with an idea of its own may write. */
const JSON_USERDATA = hex(JSON.stringify({ app: 'neighbour', note: 'x'.repeat(60), list: [1, 2, 3] }));
/** The version of nft in entries of types that former versions do not have; the last one says that it is longer than it is. */
const ODD_ENTRIES = { hex: '0104010103000201ff63047465737400ff40' };

const expression = (name: string, values: RawAttributes = []): RawAttributes[number] => [
  nf.LIST_ELEMENT,
  [
    [nf.EXPRESSION.NAME, name],
    [nf.EXPRESSION.DATA, values],
  ],
];

export const LAST = expression('last');
export const COUNTER = expression('counter');
/** More than so many connections at once. */
export const CONNECTION_LIMIT = expression('connlimit', [
  [1, 5],
  [2, 1],
]);
export const QUOTA = expression('quota', [[1, { long: 1000 }]]);
export const DROP = expression('immediate', [
  [1, 0],
  [2, [[nf.DATA.VERDICT, [[1, nf.VERDICT_CODES.drop]]]]],
]);
/** The number of the interface lo. */
const LOOPBACK = expression('immediate', [
  [1, 8],
  [2, [[nf.DATA.VALUE, { hex: '01000000' }]]],
]);
export const OBJECT_REFERENCE = expression('objref', [
  [1, 1],
  [2, 'hits'],
]);
const ROUTE = expression('rt', [
  [1, 8],
  [2, 0],
]);
const SOCKET = expression('socket', [
  [1, 0],
  [2, 8],
]);

export const table = (family: number, name: string, flags = 0): RawMessage => ({
  type: nf.NEWTABLE,
  family,
  attributes: [
    [1, name],
    [2, flags],
    [6, JSON_USERDATA],
  ],
});

/** Deletes a table of IPv4. */
export const deletion = (name: string): RawMessage => ({
  type: nf.DELTABLE,
  flags: 0,
  family: FAMILY.ip,
  attributes: [[1, name]],
});

/** As `nft flush ruleset` sends it. */
export const flushRuleset: RawMessage = { type: nf.DELTABLE, flags: 0, family: 0, attributes: [] };

export const chain = (family: number, of: string, name: string, hook?: RawAttributes): RawMessage => ({
  type: nf.NEWCHAIN,
  family,
  attributes: [
    [1, of],
    [3, name],
    ...(hook
      ? ([
          [4, hook],
          [7, 'filter'],
        ] as const)
      : []),
    [CHAIN_USERDATA, ODD_ENTRIES],
  ],
});

export const rule = (
  family: number,
  of: string,
  chainName: string,
  expressions: RawAttributes,
  isFirst = false,
): RawMessage => ({
  type: nf.NEWRULE,
  flags: NLM_F_CREATE | (isFirst ? 0 : NLM_F_APPEND),
  family,
  attributes: [
    [1, of],
    [2, chainName],
    [4, expressions],
    [7, JSON_USERDATA],
  ],
});

/** A set of addresses of IPv4 that packets fill, with two expressions for each element. */
export const meteredSet = (family: number, of: string, name: string): RawMessage => ({
  type: nf.NEWSET,
  family,
  attributes: [
    [1, of],
    [2, name],
    [3, nf.SET_FLAG.EVAL | SEVERAL_EXPRESSIONS],
    [4, 7],
    [5, 4],
    [9, [[1, 1000]]],
    [10, 7],
    [13, ODD_ENTRIES],
    [SET_EXPRESSIONS, [COUNTER, LAST]],
  ],
});

export const element = (family: number, of: string, set: string, more: RawAttributes): RawMessage => ({
  type: nf.NEWSETELEM,
  family,
  attributes: [
    [1, of],
    [2, set],
    [3, [[nf.LIST_ELEMENT, more]]],
  ],
});

const keyOf = (bytes: string): RawAttributes[number] => [nf.ELEMENT.KEY, [[nf.DATA.VALUE, { hex: bytes }]]];

export const elementWith = (bytes: string, ...expressions: RawAttributes): RawAttributes => [
  keyOf(bytes),
  [ELEMENT_EXPRESSIONS, expressions],
];

export const counterObject = (family: number, of: string): RawMessage => ({
  type: NEW_OBJECT,
  family,
  attributes: [
    [1, of],
    [2, 'hits'],
    [3, 1],
    [4, []],
    [OBJECT_USERDATA, JSON_USERDATA],
  ],
});

export const STRANGE_LINK = 'strange0';

/** Tables of other programs; one has a chain at STRANGE_LINK. */
export function strangeTables(): readonly RawMessage[] {
  const prerouting: RawAttributes = [
    [1, 0],
    [2, 0xffffff00],
  ];
  const ingress: RawAttributes = [
    [1, 0],
    [2, 10],
    [3, STRANGE_LINK],
  ];
  const families = [FAMILY.inet, FAMILY.ip, FAMILY.ip6];
  return [
    ...families.flatMap((family) => [
      table(family, 'neighbour'),
      counterObject(family, 'neighbour'),
      chain(family, 'neighbour', 'first', prerouting),
      chain(family, 'neighbour', 'unhooked'),
      meteredSet(family, 'neighbour', 'meters'),
      element(family, 'neighbour', 'meters', elementWith('0a000001', COUNTER, LAST)),
      rule(family, 'neighbour', 'unhooked', [LAST, CONNECTION_LIMIT, QUOTA, OBJECT_REFERENCE, ROUTE]),
      rule(family, 'neighbour', 'unhooked', [SOCKET, DROP]),
      rule(family, 'neighbour', 'first', [
        expression('rt', [
          [1, 8],
          [2, 0],
        ]),
        expression('fib', [
          [1, 8],
          [2, 3],
          [3, 2],
        ]),
      ]),
    ]),
    table(FAMILY.netdev, 'neighbour'),
    chain(FAMILY.netdev, 'neighbour', 'in', ingress),
    rule(FAMILY.netdev, 'neighbour', 'in', [LOOPBACK, expression('fwd', [[1, 8]])]),
  ];
}
