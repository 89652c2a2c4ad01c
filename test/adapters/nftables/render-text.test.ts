import fc from 'fast-check';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import {
  formatPriority,
  parsePriority,
  type SetDefinition,
  type SetElement,
} from '../../../src/domain/nftables/layout/table.js';
import { renderTable, type TableContent } from '../../../src/adapters/nftables/render-text.js';
import { ruleText } from '../../../src/domain/nftables/kernel/rule-text.js';
import { leadTo, rule, RuleParts } from '../../../src/domain/nftables/layout/rule-parts.js';
import { UnsafeTextError } from '../../../src/domain/nftables/safe-text.js';
import { hookedSamples, matchSamples } from '../../support/nftables/every-statement.js';
import { anyText } from '../../support/any-text.js';

const SET: SetDefinition = { name: 's', key: ['address'] };

const tableOf = (content: Partial<TableContent>): string =>
  renderTable('IPv4', { counters: [], sets: [], chains: [], ...content });
const setOf = (set: SetDefinition, ...elements: readonly SetElement[]): string =>
  tableOf({ sets: [{ set, elements }] });
const IPV4 = new RuleParts('IPv4');

describe.each(IP_FAMILIES)('rules of %s', (family) => {
  const hooked = hookedSamples(family);
  const samples = [...matchSamples(family), ...hooked.destination, ...hooked.source, ...hooked.filter];

  it.each(samples)('are written as $text', ({ rule: { expressions }, text }) => {
    expect(ruleText({ expressions }, family)).toBe(text);
    expect(ruleText({ expressions, comment: 'why: a, b' }, family)).toBe(`${text} comment "why: a, b"`);
  });
});

describe('canonical text', () => {
  it.each([
    ['10.1.2.3/8', 'ip saddr 10.0.0.0/8'],
    ['10.1.2.3/32', 'ip saddr 10.1.2.3'],
    ['0.0.0.0/0', 'ip saddr 0.0.0.0/0'],
  ])('of the network %s', (network, text) => {
    expect(ruleText(rule([IPV4.address('saddr', '==', network)]), 'IPv4')).toBe(text);
  });

  it('leaves out a mask of full length', () => {
    const member = new RuleParts('IPv6').member([{ sourceBits: 128 }], 's');
    expect(ruleText(rule([member]), 'IPv6')).toBe('ip6 saddr @s');
  });

  it('of priorities goes round and can be read by nft', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (value) => {
        expect(formatPriority(value)).toMatch(/^(none|root|[0-9a-f]+:[0-9a-f]+)$/);
        expect(parsePriority(formatPriority(value))).toBe(value);
      }),
    );
    expect([0, 3, 0x40000, 0xffffffff].map(formatPriority)).toEqual(['none', '0:3', '4:0', 'root']);
  });
});

describe('a table', () => {
  it('reads like a listing', () => {
    const text = renderTable('IPv6', {
      counters: ['rejected'],
      sets: [
        {
          set: { name: 'cluster-ips', key: ['address'], comment: 'c' },
          elements: [{ key: 'fd00::1' }, { key: 'fd00::2', comment: 'x' }],
        },
        { set: { name: 'nodeport-ips', key: ['address'] }, elements: [] },
      ],
      chains: [
        { chain: { name: 'services' }, rules: [] },
        {
          chain: { name: 'nat-output', hook: { type: 'nat', hook: 'output', priority: -100 } },
          rules: [rule([leadTo('jump', 'services')])],
        },
      ],
    });
    expect(text).toBe(`table ip6 kube-proxy {
	counter rejected {
		packets 0 bytes 0
	}

	set cluster-ips {
		type ipv6_addr
		comment "c"
		elements = { fd00::1,
			     fd00::2 comment "x" }
	}

	set nodeport-ips {
		type ipv6_addr
	}

	chain services {
	}

	chain nat-output {
		type nat hook output priority -100; policy accept;
		jump services
	}
}
`);
  });
});

describe('hostile text is refused', () => {
  const hostile = ['x\ny', 'a"; flush ruleset', 'a\\', 'a }', 'ä', '\u0000', ''];

  it.each(hostile)('%j', (text) => {
    const map: SetDefinition = { name: 'm', key: ['address'], value: 'verdict' };
    const attempts = [
      () => tableOf({ chains: [{ chain: { name: text }, rules: [] }] }),
      () => setOf({ ...SET, name: text }),
      () => setOf(SET, { key: text }),
      () => setOf(map, { key: '1.2.3.4', value: text }),
      () => setOf(map, { key: '1.2.3.4', value: `goto ${text}` }),
      () => IPV4.address('saddr', '==', text),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(UnsafeTextError);
  });

  it.each(['x\ny', 'a"; flush ruleset', 'a\\', 'ä', '\u0000', '', 'x'.repeat(129)])(
    'in comments: %j',
    (comment) => {
      const attempts = [() => setOf({ ...SET, comment }), () => setOf(SET, { key: '1.2.3.4', comment })];
      for (const attempt of attempts) expect(attempt).toThrow(UnsafeTextError);
    },
  );

  it.each(['eth0"', 'a b', 'eth*', 'a/b', 'a\\', 'abcdefghijklmnop', ''])(
    'in interface names: %j',
    (name) => {
      expect(() => IPV4.inputInterface('==', name, false)).toThrow(UnsafeTextError);
    },
  );

  it.each([
    '1.2.3.4 . tcp',
    '1.2.3.4 . tcp . 80 . 1',
    '1.2.3.4 .  . 80',
    '1.2.3.4 tcp 80',
    '1.2.3.0/24 . tcp . 80',
    '1.2.3.4-1.2.3.5 . tcp . 80',
    '1.2.3.4 . tcp . ',
    ' . tcp . 80',
    '*',
  ])('in keys of another shape: %j', (key) => {
    const set: SetDefinition = { name: 's', key: ['address', 'protocol', 'port'] };
    expect(() => setOf(set, { key })).toThrow(UnsafeTextError);
  });

  it('whatever the text, no element can end its line or bring a second command', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (key, comment) => {
        let text: string;
        try {
          text = setOf(SET, { key, comment });
        } catch (error) {
          expect(error).toBeInstanceOf(UnsafeTextError);
          return;
        }
        expect(text).toMatch(/^\t\telements = \{ [0-9A-Za-z.:]+ comment "[^"\\\n]*" \}$/m);
        expect(text.split('\n')).toHaveLength(7);
      }),
      { numRuns: 500 },
    );
  });

  it('in networks of the other family', () => {
    expect(() => IPV4.address('saddr', '==', 'fd00::/8')).toThrow(UnsafeTextError);
  });

  it('and elements with too much or too little', () => {
    const map: SetDefinition = { name: 'm', key: ['address'], value: 'verdict' };
    expect(() => setOf(SET, { key: '1.2.3.4', value: 'drop' })).toThrow(UnsafeTextError);
    expect(() => setOf(map, { key: '1.2.3.4' })).toThrow(UnsafeTextError);
  });
});
