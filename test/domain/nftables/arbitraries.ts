import fc from 'fast-check';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { maskAddress } from '../../../src/domain/net/cidr.js';
import { formatPriority } from '../../../src/domain/nftables/layout/priority.js';
import type { Key, KeyField, Rule, Statement } from '../../../src/domain/nftables/layout/rule.js';
import type { DataType, Hook, SetDefinition, SetElement } from '../../../src/domain/nftables/layout/table.js';
import ipaddr from 'ipaddr.js';

/** Random rules and sets in canonical form. */

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const characters = (alphabet: string) => fc.constantFrom(...alphabet);
const word = (alphabet: string, maxLength: number) =>
  fc.string({ unit: characters(alphabet), minLength: 1, maxLength });

export const name = fc
  .tuple(characters(LETTERS), fc.string({ unit: characters(`${LETTERS}0123456789_./-`), maxLength: 30 }))
  .map(([first, rest]) => first + rest);

const PRINTABLE = Array.from({ length: 0x5f }, (_, index) => String.fromCharCode(0x20 + index)).filter(
  (c) => c !== '"' && c !== '\\',
);
const comment = word(PRINTABLE.join(''), 128);
const interfaceName = word(PRINTABLE.filter((c) => !' */'.includes(c)).join(''), 15);

function address(family: IpFamily): fc.Arbitrary<string> {
  const bytes = family === 'IPv4' ? 4 : 16;
  return fc
    .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 255 })), { minLength: bytes, maxLength: bytes })
    .map((values) => {
      const parsed = ipaddr.fromByteArray(values);
      return parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
    })
    .filter((text) => family === 'IPv4' || !/^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(text));
}

function network(family: IpFamily): fc.Arbitrary<string> {
  const bits = family === 'IPv4' ? 32 : 128;
  return fc
    .tuple(address(family), fc.integer({ min: 0, max: bits }))
    .map(([text, length]) => (length === bits ? text : `${maskAddress(text, length)}/${length}`))
    .filter((text) => !text.startsWith('::ffff:'));
}

const uint32 = fc.integer({ min: 0, max: 0xffffffff });
const port = fc.integer({ min: 0, max: 65535 });
const is = fc.constantFrom('==' as const, '!=' as const);
const end = fc.constantFrom('saddr' as const, 'daddr' as const);
const bit = fc.integer({ min: 0, max: 31 });

function keyField(family: IpFamily): fc.Arbitrary<KeyField> {
  return fc.oneof(
    fc.constantFrom<KeyField>(
      { field: 'saddr' },
      { field: 'daddr' },
      { field: 'l4proto' },
      { field: 'dport' },
      { field: 'priority' },
    ),
    fc.record({
      field: fc.constant('saddr' as const),
      prefixLength: fc.integer({ min: 0, max: family === 'IPv4' ? 31 : 127 }),
    }),
  );
}

const key = (family: IpFamily): fc.Arbitrary<Key> =>
  fc.array(keyField(family), { minLength: 1, maxLength: 5 });
const kind = <K extends Statement['kind']>(value: K) => fc.constant(value);

function statement(family: IpFamily): fc.Arbitrary<Statement> {
  const keys = key(family);
  return fc.oneof(
    fc.record({ kind: kind('address'), field: end, is, network: network(family) }),
    fc.record({ kind: kind('input-interface'), is, name: interfaceName, wildcard: fc.boolean() }),
    fc.record({ kind: kind('dport'), is, port }),
    fc.record({ kind: kind('local-address'), field: end }),
    fc.constantFrom<Statement>(
      { kind: 'new-connection' },
      { kind: 'translated' },
      { kind: 'masquerade' },
      { kind: 'reject' },
      { kind: 'drop' },
      { kind: 'return' },
    ),
    fc.record({ kind: kind('member'), key: keys, set: name, is }),
    fc.record({ kind: kind('verdict-map'), key: keys, map: name }),
    fc.record({
      kind: kind('set-priority'),
      to: fc.oneof(
        fc.constant('none' as const),
        fc.record({ modulus: fc.integer({ min: 1, max: 5000 }), offset: uint32 }),
        fc.record({ key: keys, map: name }),
      ),
    }),
    fc.record({ kind: kind('priority-at-least'), value: uint32 }),
    fc.record({ kind: fc.constantFrom('mark-has' as const, 'mark-set' as const, 'mark-flip' as const), bit }),
    fc.record({
      kind: kind('remember'),
      key: keys,
      set: name,
      timeoutSeconds: fc.integer({ min: 1, max: 86400 }),
    }),
    fc.record({ kind: kind('dnat'), key: keys, map: name }),
    fc.record({ kind: fc.constantFrom('jump' as const, 'goto' as const), chain: name }),
  );
}

export function rule(family: IpFamily): fc.Arbitrary<Rule> {
  return fc.record(
    { statements: fc.array(statement(family), { minLength: 1, maxLength: 5 }), comment },
    { requiredKeys: ['statements'] },
  );
}

export const hook: fc.Arbitrary<Hook> = fc.record({
  type: fc.constantFrom('filter' as const, 'nat' as const),
  hook: fc.constantFrom(
    'prerouting' as const,
    'input' as const,
    'forward' as const,
    'output' as const,
    'postrouting' as const,
  ),
  priority: fc.integer({ min: -400, max: 400 }),
});

const dataType = fc.constantFrom<DataType>('address', 'protocol', 'port', 'priority');
const dataTypes = fc.array(dataType, { minLength: 1, maxLength: 5 });

const setDefinition: fc.Arbitrary<SetDefinition> = fc.record(
  {
    name,
    key: dataTypes,
    value: fc.oneof(fc.constant('verdict' as const), dataTypes),
    dynamicSize: fc.integer({ min: 1, max: 1_000_000 }),
    comment,
  },
  { requiredKeys: ['name', 'key'] },
);

function component(family: IpFamily, type: DataType): fc.Arbitrary<string> {
  switch (type) {
    case 'address':
      return address(family);
    case 'protocol':
      return fc.constantFrom('tcp', 'udp', 'sctp');
    case 'port':
      return port.map(String);
    case 'priority':
      return uint32.map(formatPriority);
  }
}

const verdict = fc.oneof(
  name.map((chain) => `goto ${chain}`),
  name.map((chain) => `jump ${chain}`),
  fc.constantFrom('drop', 'return'),
);

function elements(family: IpFamily, set: SetDefinition): fc.Arbitrary<SetElement[]> {
  const joined = (types: readonly DataType[]) =>
    fc.tuple(...types.map((type) => component(family, type))).map((parts) => parts.join(' . '));
  const value =
    set.value === undefined ? fc.constant(undefined) : set.value === 'verdict' ? verdict : joined(set.value);
  const element = fc
    .tuple(joined(set.key), value, fc.option(comment, { nil: undefined }))
    .map(([text, held, said]): SetElement => ({
      key: text,
      ...(held !== undefined && { value: held }),
      ...(said !== undefined && { comment: said }),
    }));
  return fc.uniqueArray(element, { selector: ({ key: text }) => text, maxLength: 12 });
}

export const setWithElements = (
  family: IpFamily,
): fc.Arbitrary<{ set: SetDefinition; elements: SetElement[] }> =>
  setDefinition.chain((set) => elements(family, set).map((held) => ({ set, elements: held })));
