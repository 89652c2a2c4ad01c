import { maskAddress } from '../../../../src/domain/net/cidr.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import type {
  CompareOperator,
  CtKey,
  Expression,
  MetaKey,
} from '../../../../src/domain/nftables/kernel/ruleset.js';
import { addressBytes } from '../../../../src/domain/nftables/kernel/bytes.js';
import { ruleText } from '../../../../src/domain/nftables/kernel/rule-text.js';
import { kernelRule } from '../../../../src/adapters/nftables/netlink/kernel-table.js';
import { RULE } from '../../../../src/adapters/nftables/netlink/records.js';
import { AttributeReader } from '../../../../src/adapters/netlink/message-reader.js';
import { MessageWriter } from '../../../../src/adapters/netlink/message-writer.js';
import { hookedSamples, matchSamples } from '../../../support/nftables/every-statement.js';

describe.each(IP_FAMILIES)('a rule that the kernel lists, %s', (family) => {
  const hooked = Object.values(hookedSamples(family)).flat();
  it.each([...matchSamples(family), ...hooked])('reads $text', ({ rule, text }) => {
    const writer = new MessageWriter();
    RULE.write(writer, { expressions: rule.expressions });
    const listed = kernelRule(RULE.read(new AttributeReader(writer.bytes, 0, writer.length)));
    expect(listed).toEqual(rule);
    expect(ruleText(listed, family)).toBe(text);
  });

  const [protocolOffset, ip] = family === 'IPv4' ? [9, 'ip'] : [6, 'ip6'];
  const header = family === 'IPv4' ? [12, 16, 4] : [8, 24, 16];
  it.each([
    ['network', protocolOffset, 1, [17], `${family === 'IPv4' ? 'ip protocol' : 'ip6 nexthdr'} udp`],
    ['network', family === 'IPv4' ? 6 : 9, 1, [17], `@nh,${family === 'IPv4' ? 48 : 72},8 0x11`],
    ['transport', protocolOffset, 1, [17], `@th,${protocolOffset * 8},8 0x11`],
    ['network', header[0]!, header[2]!, undefined, `${ip} saddr @s`],
    ['network', header[1]!, header[2]!, undefined, `${ip} daddr @s`],
    ['transport', 0, 2, [0, 53], 'th sport 53'],
    ['transport', 2, 2, [0, 53], 'th dport 53'],
    ['transport', 1, 2, [0, 53], '@th,8,16 0x0035'],
    ['transport', 4, 2, [0, 53], '@th,32,16 0x0035'],
    ['transport', 0, 4, [0, 0, 0, 53], '@th,0,32 0x00000035'],
  ] as const)(
    'names the field of the %s header at %i, %i bytes long',
    (base, offset, length, value, text) => {
      const payload: Expression = { kind: 'payload', to: 0, base, offset, length };
      const reads: Expression = value
        ? { kind: 'cmp', from: 0, op: '==', value: Buffer.from(value) }
        : { kind: 'lookup', set: 's', from: 0, inverted: false };
      expect(ruleText({ expressions: [payload, reads] }, family)).toBe(text);
    },
  );

  const [address, host] =
    family === 'IPv4'
      ? [[192, 0, 2, 7], '192.0.2.7']
      : [[0x20, 1, 0xd, 0xb8, ...new Array<number>(11).fill(0), 7], '[2001:db8::7]'];
  const v = (...values: readonly number[]) => Uint8Array.from(values);
  const word = (value: number) => v(value & 0xff, (value >>> 8) & 0xff, 0, 0);
  const dport: Expression = { kind: 'payload', to: 4, base: 'transport', offset: 2, length: 2 };
  const source: Expression = { ...dport, to: 0, base: 'network', offset: header[0]!, length: header[2]! };
  const meta = (key: MetaKey): Expression => ({ kind: 'meta', to: 0, key });
  const ct = (key: CtKey): Expression => ({ kind: 'ct', to: 0, key });
  const is = (value: Uint8Array, op: CompareOperator = '=='): Expression => ({
    ...{ kind: 'cmp', from: 0, op },
    value,
  });
  const bits = (mask: number, xor = 0): Expression => ({
    ...{ kind: 'bitwise', from: 0, to: 0 },
    ...{ mask: word(mask), xor: word(xor) },
  });
  const lookup = (set: string): Expression => ({ kind: 'lookup', set, from: 0, inverted: false });
  const range = { kind: 'range', from: 4, first: v(0, 80), last: v(0x1f, 0x90) } as const;
  const setsMark: Expression = { kind: 'meta-set', from: 0, key: 'mark' };
  const whole = { kind: 'bitwise', from: 0, to: 0, mask: v(255, 255, 255, 255), xor: word(0) } as const;
  it.each<[string, ...Expression[]]>([
    ['th dport 80-8080', dport, { ...range, inverted: false }],
    ['th dport != 80-8080', dport, { ...range, inverted: true }],
    ['limit rate … drop', { kind: 'limit', inverted: false }, { kind: 'verdict', verdict: { code: 'drop' } }],
    ['limit rate over …', { kind: 'limit', inverted: true }],
    ['counter', { kind: 'indifferent', name: 'counter' }],
    ['[osf]', { kind: 'unknown', name: 'osf' }],
    ['masquerade', { kind: 'masquerade', fullyRandom: false }],
    ['? 0x01', is(v(1))],
    ['meta mark & 0x000000ff 0x00000001', meta('mark'), bits(0xff), is(word(1))],
    ['meta mark 0x01000000', meta('mark'), is(word(1))],
    ['meta l4proto udp', meta('l4proto'), is(v(17))],
    ['iifname ""', meta('iifname'), is(v(0))],
    ['ct state invalid,established,related,new,untracked', ct('state'), bits(0x4f), is(word(0), '!=')],
    ['ct status snat,dnat', ct('status'), bits(0x30), is(word(0), '!=')],
    ['ct status & 0x00000020 0x00000000', ct('status'), bits(0x20), is(word(0))],
    ['ct status & 0x00000030 != 0x00000010', ct('status'), bits(0x30), is(word(0x10), '!=')],
    ['ct mark 0x01000000', ct('mark'), is(word(1))],
    ['fib daddr type 0x00000003', { kind: 'fib', to: 0, field: 'daddr', result: 'type' }, is(word(3))],
    ['fib saddr oif 0x01', { kind: 'fib', to: 0, field: 'saddr', result: 'exists' }, is(v(1))],
    ['meta mark set meta mark & 0x000000ff', meta('mark'), bits(0xff), setsMark],
    ['meta mark set meta mark | 0x00000100', meta('mark'), bits(0xff, 0x100), setsMark],
    ['meta mark set meta mark ^ 0x00000000', meta('mark'), whole, setsMark],
    ['meta mark set meta mark', meta('mark'), setsMark],
    [`${ip} saddr . th dport @s`, dport, source, lookup('s')],
    [`${ip} saddr . th dport @s ${ip} saddr @t`, source, dport, lookup('s'), source, lookup('t')],
    [`update @s { ${ip} saddr }`, source, { kind: 'remember', set: 's', from: 0, timeoutSeconds: 0 }],
    [
      'th dport < 80',
      ...[dport, { kind: 'byteorder', from: 4, to: 0, length: 2, size: 2 } as const],
      is(v(0, 80), '<'),
    ],
  ])('reads %s', (text, ...expressions) => {
    expect(ruleText({ expressions }, family)).toBe(text);
  });

  it('ends with its comment', () => {
    const expressions = [{ kind: 'reject' }] as const;
    expect(ruleText({ expressions, comment: 'no way' }, family)).toBe('reject comment "no way"');
  });

  it.each([20, 31])('names a network of %i bits', (bits) => {
    const [network, all] =
      family === 'IPv4'
        ? ['10.0.0.0', '255.255.255.255']
        : ['fd00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'];
    const value = addressBytes(network);
    const mask = addressBytes(maskAddress(all, bits));
    const expressions: readonly Expression[] = [
      { kind: 'payload', to: 0, base: 'network', offset: header[0]!, length: value.length },
      { kind: 'bitwise', from: 0, to: 0, mask, xor: value.map(() => 0) },
      { kind: 'cmp', from: 0, op: '==', value },
    ];
    expect(ruleText({ expressions }, family)).toBe(`${ip} saddr ${network}/${bits}`);
    const others = expressions.with(2, { kind: 'cmp', from: 0, op: '!=', value });
    expect(ruleText({ expressions: others }, family)).toBe(`${ip} saddr != ${network}/${bits}`);
  });

  it.each([
    ['snat', { address: 1 }, `snat to ${host.replace(/[[\]]/g, '')}`],
    ['dnat', { address: 1, port: 2 }, `dnat to ${host}:8080`],
    ['dnat', { port: 2 }, 'dnat to :8080'],
  ] as const)('names what %s with %j translates to', (type, registers, text) => {
    const expressions: readonly Expression[] = [
      { kind: 'immediate', to: 1, value: Uint8Array.from(address) },
      { kind: 'immediate', to: 2, value: Uint8Array.of(0x1f, 0x90) },
      { kind: 'nat', type, ...registers },
    ];
    expect(ruleText({ expressions }, family)).toBe(text);
  });
});
