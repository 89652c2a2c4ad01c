import { addressNumber } from '../../../../../src/diagnostics/domain/compare/address-ranges.js';
import type {
  Expression,
  KernelElement,
  KernelSet,
} from '../../../../../src/domain/nftables/kernel/ruleset.js';
import { ListedRule } from '../../../../../src/diagnostics/domain/nftables/listed-rule.js';
import { SourceWatch } from '../../../../../src/diagnostics/domain/nftables/source-watch.js';
import type { Watch } from '../../../../../src/diagnostics/domain/walk/packet-state.js';

const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const saddr: Expression = { kind: 'payload', to: 0, base: 'network', offset: 12, length: 4 };
const daddr: Expression = { kind: 'payload', to: 4, base: 'network', offset: 16, length: 4 };
const iifname: Expression = { kind: 'meta', to: 0, key: 'iifname' };
const cmp = (op: '==' | '!=' | '<' | '<=' | '>' | '>=', ...value: readonly number[]): Expression => ({
  ...{ kind: 'cmp', from: 0, op },
  value: bytes(...value),
});
const masked = (...mask: readonly number[]): Expression => ({
  ...{ kind: 'bitwise', from: 0, to: 0 },
  ...{ mask: bytes(...mask), xor: bytes(0, 0, 0, 0) },
});
const lookup: Expression = { kind: 'lookup', set: 's', from: 0, inverted: false };

/** What a rule tells; its key of a set is compared by packets from 10.1.2.3 to 10.0.0.7. */
function told(
  expressions: readonly Expression[],
  {
    elements = [],
    set = { name: 's', keyLength: 4 },
    isDynamic = false,
  }: {
    readonly elements?: readonly KernelElement[];
    readonly set?: KernelSet;
    readonly isDynamic?: boolean;
  } = {},
): readonly string[] {
  const texts: string[] = [];
  const watch: Watch = {
    source: ({ first, last }) => texts.push(`${first} ${last}`),
    inputInterface: (pattern) => texts.push(pattern),
    unclear: (what) => texts.push(what.replace(/.* looks at /, '')),
    affinity: () => {},
  };
  const table = {
    family: 'ip',
    name: 't',
    number: 1,
    chains: new Map(),
    sets: new Map([['s', set]]),
  } as const;
  const rule = new ListedRule({ expressions }, table, { name: 'c', number: 1, rules: [] }, 'IPv4');
  const source = new SourceWatch('IPv4', { elements: () => elements, isDynamic: () => isDynamic });
  const registers = Uint8Array.of(10, 1, 2, 3, 10, 0, 0, 7, ...new Uint8Array(56));
  for (const tell of source.comparisonsOf(rule)) tell?.(watch, registers);
  return texts;
}

const range = (first: string, last: string): string => `${addressNumber(first)} ${addressNumber(last)}`;

it.each<[string, readonly Expression[], readonly string[]]>([
  ['an address', [saddr, cmp('==', 10, 0, 0, 1)], [range('10.0.0.1', '10.0.0.1')]],
  ['the first bytes', [saddr, cmp('!=', 10, 0)], [range('10.0.0.0', '10.0.255.255')]],
  [
    'a masked one',
    [saddr, masked(255, 240, 0, 0), cmp('==', 10, 16, 0, 0)],
    [range('10.16.0.0', '10.31.255.255')],
  ],
  ['an order', [saddr, cmp('<=', 10, 0, 0, 1)], [range('0.0.0.0', '10.0.0.1')]],
  ['another order', [saddr, cmp('<', 10, 0, 0, 1)], [range('0.0.0.0', '10.0.0.0')]],
  ['nothing less', [saddr, cmp('<', 0, 0, 0, 0)], []],
  ['another address', [daddr, { ...cmp('==', 10, 0, 0, 1), from: 4 } as Expression], []],
  ['what took its place', [saddr, { ...daddr, to: 0 } as Expression, cmp('==', 10, 0, 0, 1)], []],
  ['an interface', [iifname, cmp('==', ...Buffer.from('eth0\0'))], ['eth0']],
  ['interfaces', [iifname, cmp('==', ...Buffer.from('veth'))], ['veth+']],
  ['other bits', [saddr, masked(0, 255, 0, 0), cmp('==', 0, 1, 0, 0)], ['some bits of the source']],
  ['an order of a part', [saddr, cmp('<', 10, 0)], ['the order of a part of the source']],
])('is told of a comparison with %s', (_, expressions, expected) => {
  expect(told(expressions)).toEqual(expected);
});

it.each<[string, readonly Expression[]]>([
  ['the number of an interface', [{ kind: 'meta', to: 0, key: 'iif' }]],
  ['a field of the header', [{ kind: 'payload', to: 0, base: 'network', offset: 8, length: 1 }]],
  ['a field of the header', [{ kind: 'payload', to: 0, base: 'transport', offset: 0, length: 2 }]],
  [
    'a part of the source in another order',
    [saddr, { kind: 'byteorder', from: 0, to: 0, length: 4, size: 4 }],
  ],
  ['a limit', [{ kind: 'limit', inverted: false }]],
  ['quota', [{ kind: 'indifferent', name: 'quota' }]],
])('is told that %s is not known', (what, expressions) => {
  expect(told(expressions)).toEqual([what]);
});

describe('a hash', () => {
  const hash: Expression = { kind: 'hash', from: 0, length: 8, to: 16, modulus: 3, offset: 0, seed: 1 };
  const sport: Expression = { kind: 'payload', to: 4, base: 'transport', offset: 0, length: 2 };

  it('of the source is another one for each source', () => {
    expect(told([saddr, daddr, hash])).toEqual(['a hash of the source']);
  });

  it('of anything else is the same, and that of the source port may be any', () => {
    expect(told([daddr, hash])).toEqual([]);
    expect(told([saddr, sport, hash])).toEqual(['a field of the header']);
  });
});

describe('a look-up', () => {
  const pair: KernelSet = { name: 's', keyLength: 8 };
  const elements = [
    { key: bytes(10, 1, 2, 9, 10, 0, 0, 7) },
    { key: bytes(10, 1, 2, 10, 10, 0, 0, 8) },
    { key: bytes(10, 1, 2, 11, 10, 0, 0, 7) },
  ];

  it('tells the sources of elements that have the same otherwise, and leaves their keys as they are', () => {
    const before = elements.map(({ key }) => key.toString('hex'));
    const expected = [range('10.1.2.9', '10.1.2.9'), range('10.1.2.11', '10.1.2.11')];
    expect(told([saddr, daddr, lookup], { elements, set: pair })).toEqual(expected);
    expect(elements.map(({ key }) => key.toString('hex'))).toEqual(before);
  });

  it('of a masked source tells all that have it', () => {
    const network = [{ key: bytes(10, 1, 0, 0) }];
    expect(told([saddr, masked(255, 255, 0, 0), lookup], { elements: network })).toEqual([
      range('10.1.0.0', '10.1.255.255'),
    ]);
  });

  it('in ranges tells each of them', () => {
    const bounds = [{ key: bytes(10, 0, 0, 0) }, { key: bytes(10, 0, 1, 0), isEnd: true as const }];
    expect(
      told([saddr, lookup], { elements: bounds, set: { name: 's', keyLength: 4, ranges: 'single' } }),
    ).toEqual([range('10.0.0.0', '10.0.0.255')]);
    const both = [{ key: bytes(10, 0, 0, 0), lastKey: bytes(10, 9, 0, 0) }];
    expect(told([saddr, lookup], { elements: both, set: { name: 's', keyLength: 4, ranges: [4] } })).toEqual([
      range('10.0.0.0', '10.9.0.0'),
    ]);
    expect(
      told([saddr, masked(255, 0, 0, 0), lookup], { set: { name: 's', keyLength: 4, ranges: 'single' } }),
    ).toEqual(['a part of the source in set s']);
  });

  it('of an interface tells the names', () => {
    const names = [{ key: bytes(...Buffer.from('eth0'.padEnd(16, '\0'))) }];
    expect(told([iifname, lookup], { elements: names, set: { name: 's', keyLength: 16 } })).toEqual(['eth0']);
  });

  it('without the source, or in a set that packets fill, tells nothing', () => {
    expect(
      told([{ ...daddr, to: 0 } as Expression, lookup], { elements: [{ key: bytes(10, 0, 0, 7) }] }),
    ).toEqual([]);
    expect(told([saddr, lookup], { elements: [{ key: bytes(10, 0, 0, 7) }], isDynamic: true })).toEqual([]);
  });
});
