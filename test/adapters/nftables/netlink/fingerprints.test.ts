import { AttributeReader } from '../../../../src/adapters/netlink/message-reader.js';
import { MessageWriter } from '../../../../src/adapters/netlink/message-writer.js';
import { ruleRecord } from '../../../../src/adapters/nftables/netlink/rule-encoder.js';
import { RULE } from '../../../../src/adapters/nftables/netlink/records.js';
import {
  fingerprintChain,
  fingerprintRule,
  fingerprintSet,
  ruleFingerprint,
} from '../../../../src/adapters/nftables/netlink/table-state.js';
import type { Rule } from '../../../../src/domain/nftables/layout/table.js';
import { hookedSamples, matchSamples } from '../../../support/nftables/every-statement.js';

describe('the fingerprint of a rule', () => {
  it('says what the rule does', () => {
    const rule: Rule = {
      statements: [
        { kind: 'new-connection' },
        { kind: 'member', key: [{ field: 'daddr' }, { field: 'l4proto' }], set: 's', is: '!=' },
        { kind: 'goto', chain: 'x' },
      ],
      comment: 'why',
    };
    expect(fingerprintRule('IPv6', rule)).toBe(
      [
        'ct dreg 1 key 0',
        'bitwise sreg 1 dreg 1 length 4 mask 08000000 xor 00000000',
        'cmp sreg 1 op 1 data 00000000',
        'payload dreg 1 base 1 offset 24 length 16',
        'meta dreg 2 key 16',
        'lookup set s sreg 1 flags 0x1',
        'immediate dreg 0 data verdict -4 x # why',
      ].join('; '),
    );
  });

  it.each(['IPv4', 'IPv6'] as const)('differs where rules differ (%s)', (family) => {
    const samples = [...matchSamples(family), ...Object.values(hookedSamples(family)).flat()];
    const fingerprints = samples.map(({ statements }) => fingerprintRule(family, { statements }));
    expect(new Set(fingerprints).size).toBe(samples.length);
    for (const fingerprint of fingerprints) expect(fingerprint).not.toContain('unknown');
    const plain: Rule = { statements: [{ kind: 'drop' }] };
    expect(fingerprintRule(family, plain)).not.toBe(fingerprintRule(family, { ...plain, comment: 'x' }));
  });

  it.each(['IPv4', 'IPv6'] as const)('is that of the rule when it is sent and listed (%s)', (family) => {
    for (const { statements } of [...matchSamples(family), ...Object.values(hookedSamples(family)).flat()]) {
      const rule: Rule = { statements, comment: 'why' };
      const writer = new MessageWriter(4096);
      RULE.write(writer, ruleRecord(family, rule));
      const listed = RULE.read(new AttributeReader(writer.bytes, 0, writer.length));
      expect(fingerprintRule(family, rule)).toBe(ruleFingerprint(listed));
    }
  });

  it('does not exist for what nft could not read', () => {
    const rule = (statement: Rule['statements'][number]) => () =>
      fingerprintRule('IPv4', { statements: [statement] });
    expect(rule({ kind: 'address', field: 'saddr', is: '==', network: 'fd00::/8' })).toThrow('network');
    expect(rule({ kind: 'mark-set', bit: 32 })).toThrow('mark bit');
    expect(rule({ kind: 'input-interface', is: '==', name: 'a"', wildcard: false })).toThrow('interface');
    expect(rule({ kind: 'dport', is: '==', port: 65536 })).toThrow('port');
  });
});

describe('the fingerprint of a set', () => {
  it('is that of its layout, not of its name and comment', () => {
    const set = { name: 'a', key: ['address', 'protocol', 'port'], value: ['address', 'port'] } as const;
    expect(fingerprintSet('IPv4', set)).toBe('flags 0x8 key 0x730d/12 data 0x1cd/8');
    expect(fingerprintSet('IPv6', set)).toBe('flags 0x8 key 0x830d/24 data 0x20d/20');
    expect(fingerprintSet('IPv4', { ...set, name: 'b', comment: 'c' })).toBe(fingerprintSet('IPv4', set));
    expect(fingerprintSet('IPv4', { name: 'v', key: ['priority'], value: 'verdict' })).toBe(
      'flags 0x8 key 0x17/4 data 0xffffff00/0',
    );
    expect(fingerprintSet('IPv4', { name: 'd', key: ['priority', 'address'], dynamicSize: 10 })).toBe(
      'flags 0x30 key 0x5c7/8 size 10',
    );
  });
});

describe('the fingerprint of a chain', () => {
  it('is its hook', () => {
    expect(fingerprintChain({ name: 'a' })).toBe('regular chain');
    expect(fingerprintChain({ name: 'a', hook: { type: 'nat', hook: 'output', priority: -100 } })).toBe(
      'type nat hook output priority -100 policy accept',
    );
  });
});
