import fc from 'fast-check';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import {
  formatPriority,
  parsePriority,
  type Statement,
  type SetDefinition,
  type SetElement,
} from '../../../src/domain/nftables/layout/table.js';
import { renderRule, renderTable, type TableContent } from '../../../src/adapters/nftables/render-text.js';
import { UnsafeTextError } from '../../../src/domain/nftables/safe-text.js';
import { hookedSamples, matchSamples } from '../../support/nftables/every-statement.js';
import { anyText } from '../../support/any-text.js';

const SET: SetDefinition = { name: 's', key: ['address'] };

const tableOf = (content: Partial<TableContent>): string =>
  renderTable('IPv4', { counters: [], sets: [], chains: [], ...content });
const setOf = (set: SetDefinition, ...elements: readonly SetElement[]): string =>
  tableOf({ sets: [{ set, elements }] });
const ruleOf = (statement: unknown, comment?: string): string =>
  renderRule('IPv4', {
    statements: [statement as Statement],
    ...(comment !== undefined && { comment }),
  });

describe.each(IP_FAMILIES)('rules of %s', (family) => {
  const hooked = hookedSamples(family);
  const samples = [...matchSamples(family), ...hooked.destination, ...hooked.source, ...hooked.filter];

  it.each(samples.map(({ statements, text }) => [text, statements] as const))(
    'are written as %s',
    (text, statements) => {
      expect(renderRule(family, { statements })).toBe(text);
      expect(renderRule(family, { statements, comment: 'why: a, b' })).toBe(`${text} comment "why: a, b"`);
    },
  );
});

describe('canonical text', () => {
  it.each([
    ['10.1.2.3/8', 'ip saddr 10.0.0.0/8'],
    ['10.1.2.3/32', 'ip saddr 10.1.2.3'],
    ['0.0.0.0/0', 'ip saddr 0.0.0.0/0'],
  ])('of the network %s', (network, text) => {
    expect(renderRule('IPv4', { statements: [{ kind: 'address', field: 'saddr', is: '==', network }] })).toBe(
      text,
    );
  });

  it('leaves out a mask of full length', () => {
    const statement: Statement = {
      kind: 'member',
      key: [{ field: 'saddr', prefixLength: 128 }],
      set: 's',
      is: '==',
    };
    expect(renderRule('IPv6', { statements: [statement] })).toBe('ip6 saddr @s');
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
          rules: [{ statements: [{ kind: 'jump', chain: 'services' }] }],
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
      () => ruleOf({ kind: 'jump', chain: text }),
      () => ruleOf({ kind: 'member', key: [{ field: 'daddr' }], set: text, is: '==' }),
      () => ruleOf({ kind: 'verdict-map', key: [{ field: 'daddr' }], map: text }),
      () => ruleOf({ kind: 'address', field: 'saddr', is: '==', network: text }),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(UnsafeTextError);
  });

  it.each(['x\ny', 'a"; flush ruleset', 'a\\', 'ä', '\u0000', '', 'x'.repeat(129)])(
    'in comments: %j',
    (comment) => {
      const attempts = [
        () => setOf({ ...SET, comment }),
        () => setOf(SET, { key: '1.2.3.4', comment }),
        () => ruleOf({ kind: 'drop' }, comment),
      ];
      for (const attempt of attempts) expect(attempt).toThrow(UnsafeTextError);
    },
  );

  it.each(['eth0"', 'a b', 'eth*', 'a/b', 'a\\', 'abcdefghijklmnop', ''])(
    'in interface names: %j',
    (name) => {
      const statement: Statement = { kind: 'input-interface', is: '==', name, wildcard: false };
      expect(() => renderRule('IPv4', { statements: [statement] })).toThrow(UnsafeTextError);
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

  it.each<Statement>([
    { kind: 'dport', is: '==', port: 65536 },
    { kind: 'dport', is: '==', port: 1.5 },
    { kind: 'mark-set', bit: 32 },
    { kind: 'mark-has', bit: Number.NaN },
    { kind: 'priority-at-least', value: -1 },
    { kind: 'address', field: 'saddr', is: '==', network: 'fd00::/8' },
    { kind: 'member', key: [], set: 's', is: '==' },
    { kind: 'member', key: [{ field: 'saddr', prefixLength: 33 }], set: 's', is: '==' },
    { kind: 'set-priority', to: { modulus: 0, offset: 0 } },
    { kind: 'remember', key: [{ field: 'saddr' }], set: 's', timeoutSeconds: Infinity },
  ])('and so are numbers out of bounds: %j', (statement) => {
    expect(() => renderRule('IPv4', { statements: [statement] })).toThrow(UnsafeTextError);
  });

  it('and elements with too much or too little', () => {
    const map: SetDefinition = { name: 'm', key: ['address'], value: 'verdict' };
    expect(() => setOf(SET, { key: '1.2.3.4', value: 'drop' })).toThrow(UnsafeTextError);
    expect(() => setOf(map, { key: '1.2.3.4' })).toThrow(UnsafeTextError);
    expect(() => renderRule('IPv4', { statements: [] })).toThrow(UnsafeTextError);
  });
});
