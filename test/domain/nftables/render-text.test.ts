import fc from 'fast-check';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { formatPriority, parsePriority } from '../../../src/domain/nftables/priority.js';
import {
  elementOfLine,
  renderOperation,
  renderRule,
  renderTable,
} from '../../../src/domain/nftables/render-text.js';
import type { Statement } from '../../../src/domain/nftables/rule.js';
import { UnsafeTextError } from '../../../src/domain/nftables/safe-text.js';
import type { Operation, SetDefinition } from '../../../src/domain/nftables/table.js';
import { hookedSamples, matchSamples } from '../../support/nftables/every-statement.js';

const ENDPOINTS: SetDefinition = {
  name: 'endpoints',
  key: ['address', 'protocol', 'port', 'priority'],
  value: ['address', 'port'],
  comment: 'who answers',
};
const lines = (operation: Operation) => [...renderOperation('IPv4', operation)];

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

describe('operations', () => {
  it.each<[Operation, string]>([
    [
      { op: 'add-table', comment: 'rules for kube-proxy' },
      'add table ip kube-proxy { comment "rules for kube-proxy" ; }',
    ],
    [{ op: 'delete-table' }, 'delete table ip kube-proxy'],
    [{ op: 'add-chain', chain: { name: 'services' } }, 'add chain ip kube-proxy services'],
    [
      {
        op: 'add-chain',
        chain: { name: 'nat-output', hook: { type: 'nat', hook: 'output', priority: -100 } },
      },
      'add chain ip kube-proxy nat-output { type nat hook output priority -100 ; }',
    ],
    [{ op: 'flush-chain', chain: 'services' }, 'flush chain ip kube-proxy services'],
    [{ op: 'delete-chain', chain: 'services' }, 'delete chain ip kube-proxy services'],
    [
      { op: 'add-rule', chain: 'services', rule: { statements: [{ kind: 'drop' }], comment: 'x' } },
      'add rule ip kube-proxy services drop comment "x"',
    ],
    [
      { op: 'add-set', set: ENDPOINTS },
      'add map ip kube-proxy endpoints { type ipv4_addr . inet_proto . inet_service . classid : ipv4_addr . inet_service ; comment "who answers" ; }',
    ],
    [
      { op: 'add-set', set: { name: 'affinity', key: ['priority', 'address'], dynamicSize: 10 } },
      'add set ip kube-proxy affinity { type classid . ipv4_addr ; size 10 ; flags dynamic,timeout ; }',
    ],
    [
      { op: 'add-set', set: { name: 'classes', key: ['priority'], value: 'verdict' } },
      'add map ip kube-proxy classes { type classid : verdict ; }',
    ],
    [{ op: 'delete-set', set: ENDPOINTS }, 'delete map ip kube-proxy endpoints'],
    [{ op: 'flush-set', set: { name: 'a', key: ['address'] } }, 'flush set ip kube-proxy a'],
  ])('%j', (operation, text) => {
    expect(lines(operation)).toEqual([text]);
  });

  it('have one element to a line, deletions without value and comment', () => {
    const elements = [
      { key: '172.30.0.1 . tcp . 80 . 0', value: '10.0.0.1 . 8080', comment: 'a' },
      { key: '172.30.0.1 . tcp . 80 . 1', value: '10.0.0.2 . 8080' },
    ];
    expect(lines({ op: 'add-elements', set: ENDPOINTS, elements })).toEqual([
      'add element ip kube-proxy endpoints {',
      '172.30.0.1 . tcp . 80 . 0 comment "a" : 10.0.0.1 . 8080,',
      '172.30.0.1 . tcp . 80 . 1 : 10.0.0.2 . 8080',
      '}',
    ]);
    expect(lines({ op: 'delete-elements', set: ENDPOINTS, elements })).toEqual([
      'delete element ip kube-proxy endpoints {',
      '172.30.0.1 . tcp . 80 . 0,',
      '172.30.0.1 . tcp . 80 . 1',
      '}',
    ]);
    expect(lines({ op: 'add-elements', set: ENDPOINTS, elements: [] })).toEqual([]);
  });

  it('say which element stands on which line', () => {
    const set: SetDefinition = { name: 'a', key: ['address'] };
    const elements = Array.from({ length: 450 }, (_, index) => ({
      key: `10.0.${index >> 8}.${index & 255}`,
    }));
    const written = lines({ op: 'add-elements', set, elements });
    for (const [line, text] of written.entries()) {
      const element = elementOfLine(line);
      if (element !== undefined && element < elements.length)
        expect(text.replace(',', '')).toBe(elements[element]!.key);
      else expect(text).toMatch(/^(add element ip kube-proxy a \{|\})$/);
    }
  });
});

describe('a table', () => {
  it('reads like a listing', () => {
    const text = renderTable('IPv6', {
      comment: 'rules for kube-proxy',
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
	comment "rules for kube-proxy"

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
    const set: SetDefinition = { name: 's', key: ['address'] };
    const map: SetDefinition = { name: 'm', key: ['address'], value: 'verdict' };
    const attempts: Operation[] = [
      { op: 'flush-chain', chain: text },
      { op: 'add-chain', chain: { name: text } },
      { op: 'add-set', set: { ...set, name: text } },
      { op: 'delete-set', set: { ...set, name: text } },
      { op: 'add-elements', set, elements: [{ key: text }] },
      { op: 'delete-elements', set, elements: [{ key: text }] },
      { op: 'add-elements', set: map, elements: [{ key: '1.2.3.4', value: text }] },
      { op: 'add-elements', set: map, elements: [{ key: '1.2.3.4', value: `goto ${text}` }] },
      ...[
        { kind: 'jump', chain: text },
        { kind: 'member', key: [{ field: 'daddr' }], set: text, is: '==' },
        { kind: 'verdict-map', key: [{ field: 'daddr' }], map: text },
        { kind: 'address', field: 'saddr', is: '==', network: text },
      ].map((statement): Operation => ({
        op: 'add-rule',
        chain: 'c',
        rule: { statements: [statement as Statement] },
      })),
    ];
    for (const attempt of attempts) expect(() => lines(attempt)).toThrow(UnsafeTextError);
  });

  it.each(['x\ny', 'a"; flush ruleset', 'a\\', 'ä', '\u0000', '', 'x'.repeat(129)])(
    'in comments: %j',
    (comment) => {
      const set: SetDefinition = { name: 's', key: ['address'] };
      const attempts: Operation[] = [
        { op: 'add-table', comment },
        { op: 'add-set', set: { ...set, comment } },
        { op: 'add-elements', set, elements: [{ key: '1.2.3.4', comment }] },
        { op: 'add-rule', chain: 'c', rule: { statements: [{ kind: 'drop' }], comment } },
      ];
      for (const attempt of attempts) expect(() => lines(attempt)).toThrow(UnsafeTextError);
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
    expect(() => lines({ op: 'add-elements', set, elements: [{ key }] })).toThrow(UnsafeTextError);
  });

  it('whatever the text, no element can end its line or bring a second command', () => {
    const set: SetDefinition = { name: 's', key: ['address'] };
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (key, comment) => {
        let text: string;
        try {
          text = lines({ op: 'add-elements', set, elements: [{ key, comment }] })[1]!;
        } catch (error) {
          expect(error).toBeInstanceOf(UnsafeTextError);
          return;
        }
        expect(text).toMatch(/^[0-9A-Za-z.:]+ comment "[^"\\\n]*"$/);
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
    const elements = [{ key: '1.2.3.4', value: 'drop' }];
    expect(() => lines({ op: 'add-elements', set: { name: 's', key: ['address'] }, elements })).toThrow(
      UnsafeTextError,
    );
    expect(() =>
      lines({
        op: 'add-elements',
        set: { name: 'm', key: ['address'], value: 'verdict' },
        elements: [{ key: '1.2.3.4' }],
      }),
    ).toThrow(UnsafeTextError);
    expect(() => renderRule('IPv4', { statements: [] })).toThrow(UnsafeTextError);
  });
});
