import fc from 'fast-check';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { parseRule } from '../../../src/domain/nftables/parse-rule.js';
import { ListingError, TableParser } from '../../../src/domain/nftables/parse-text.js';
import { parseTable } from '../../support/nftables/parse-table.js';
import { renderRule, renderTable, type TableContent } from '../../../src/domain/nftables/render-text.js';
import { hook, name, rule, setWithElements } from './arbitraries.js';
import { sampleTable } from '../../support/nftables/every-statement.js';

function content(family: (typeof IP_FAMILIES)[number]): fc.Arbitrary<TableContent> {
  const chain = fc.record({ name, hook }, { requiredKeys: ['name'] });
  return fc.record(
    {
      comment: fc.constant('rules for kube-proxy'),
      sets: fc.uniqueArray(setWithElements(family), { selector: ({ set }) => set.name, maxLength: 4 }),
      chains: fc.uniqueArray(fc.record({ chain, rules: fc.array(rule(family), { maxLength: 4 }) }), {
        selector: (entry) => entry.chain.name,
        maxLength: 4,
      }),
    },
    { requiredKeys: ['sets', 'chains'] },
  );
}

function expectSame(
  family: (typeof IP_FAMILIES)[number],
  parsed: ReturnType<typeof parseTable>,
  table: TableContent,
): void {
  expect(parsed.comment).toBe(table.comment);
  expect(
    [...parsed.sets.values()].map(({ definition, elements }) => ({
      set: definition,
      elements: [...elements.values()],
    })),
  ).toEqual(table.sets);
  const chains = [...parsed.chains].map(([chainName, { hook: held, rules }]) => ({
    chain: { name: chainName, ...(held && { hook: held }) },
    rules: rules.map((text) => parseRule(family, text)),
  }));
  expect(chains).toEqual(table.chains);
}

describe.each(IP_FAMILIES)('%s', (family) => {
  it('any rule goes round', () => {
    fc.assert(
      fc.property(
        rule(family),
        (value) => void expect(parseRule(family, renderRule(family, value))).toEqual(value),
      ),
      { numRuns: 500 },
    );
  });

  it('any table goes round', () => {
    fc.assert(
      fc.property(content(family), (table) =>
        expectSame(family, parseTable(family, renderTable(family, table)), table),
      ),
      { numRuns: 200 },
    );
  });

  it('a table with everything goes round, in pieces of any size', () => {
    const table = sampleTable(family);
    const text = renderTable(family, table);
    for (const size of [1, 7, 1000, text.length]) {
      const parser = new TableParser(family, () => true);
      for (let start = 0; start < text.length; start += size) parser.push(text.slice(start, start + size));
      expectSame(family, parser.end(), table);
    }
  });

  it('a listing that breaks off is no table', () => {
    const text = renderTable(family, sampleTable(family));
    expect(() => parseTable(family, text.slice(0, -10))).toThrow(ListingError);
    expect(() => parseTable(family, '')).toThrow(ListingError);
    expect(() => parseTable(family === 'IPv4' ? 'IPv6' : 'IPv4', text)).toThrow(ListingError);
  });
});

describe('what versions and options of nft print differently', () => {
  it.each([
    ['ip daddr . meta l4proto . th dport vmap @m', undefined],
    ['ct state 0x8', 'ct state new'],
    ['ct status 0x20', 'ct status dnat'],
    ['fib daddr type 2', 'fib daddr type local'],
    ['meta mark != 0x00000000/1', 'meta mark & 0x80000000 != 0x00000000'],
    ['mark set mark | 0x4000', 'meta mark set meta mark | 0x00004000'],
    ['update @a { ip saddr timeout 3h }', 'update @a { ip saddr timeout 10800s }'],
    ['update @a { ip saddr timeout 1d1m1s }', 'update @a { ip saddr timeout 86461s }'],
    ['th dport != 0 dnat ip addr . port to th dport map @m', 'th dport != 0 dnat ip to th dport map @m'],
  ])('%s', (text, ours) => {
    expect(renderRule('IPv4', parseRule('IPv4', text)!)).toBe(ours ?? text);
  });

  it.each([
    'counter packets 0 bytes 0 drop',
    'ip daddr 10.0.0.1 counter',
    'log',
    'ip6 daddr fd00::1 drop',
    'meta mark & 0x00000003 != 0x00000000',
    'ip saddr & 255.0.255.0 @s',
    'tcp dport 80 accept',
    '',
  ])('other rules are not taken for ours: %j', (text) => {
    expect(parseRule('IPv4', text)).toBeUndefined();
  });

  it('numbers for protocols, dotted quads in IPv6, several elements to a line, timeouts, comments behind values', () => {
    const table = parseTable(
      'IPv6',
      `table ip6 kube-proxy {
	set a {
		type ipv6_addr
		elements = { ::0.1.0.2, fd00::1 comment "a, b" , fd00::2 timeout 5s expires 3s,
			     fd00::3 }
	}
	map m { # handle 3
		type ipv6_addr . inet_proto . inet_service : verdict
		elements = { fd00::1 . 6 . 80 : goto x comment "n/m",
			     fd00::1 . 132 . 80 comment "c : d" : drop }
	}
}
`,
    );
    expect([...table.sets.get('a')!.elements.values()]).toEqual([
      { key: '::1:2' },
      { key: 'fd00::1', comment: 'a, b' },
      { key: 'fd00::2' },
      { key: 'fd00::3' },
    ]);
    expect([...table.sets.get('m')!.elements.values()]).toEqual([
      { key: 'fd00::1 . tcp . 80', value: 'goto x', comment: 'n/m' },
      { key: 'fd00::1 . sctp . 80', value: 'drop', comment: 'c : d' },
    ]);
  });

  it("kube-proxy's own table is understood as far as it is like ours", () => {
    const table = parseTable(
      'IPv4',
      `table ip kube-proxy {
	comment "rules for kube-proxy"

	set affinity-ABCDEFGH-ns/svc/tcp/__10.0.0.1/80 {
		type ipv4_addr
		size 65535
		flags dynamic,timeout
		timeout 10800s
		elements = { 10.0.0.9 expires 10799s }
	}

	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		comment "ClusterIP, ExternalIP and LoadBalancer IP traffic"
		elements = { 10.96.0.1 . tcp . 443 : goto service-ABCDEFGH-ns/svc/tcp/ }
	}

	chain filter-input {
		type filter hook input priority filter; policy drop;
		ct state new jump nodeport-endpoints-check
	}

	chain reject-chain {
		comment "helper for @no-endpoint-services / @no-endpoint-nodeports"
		reject
	}
}
`,
    );
    expect(table.sets.get('affinity-ABCDEFGH-ns/svc/tcp/__10.0.0.1/80')).toEqual({
      declaration: 'type ipv4_addr; size 65535; flags dynamic,timeout; timeout 10800s',
      elements: new Map(),
    });
    expect(table.sets.get('service-ips')!.elements.get('10.96.0.1 . tcp . 443')!.value).toBe(
      'goto service-ABCDEFGH-ns/svc/tcp/',
    );
    expect(table.chains.get('filter-input')).toEqual({
      otherHook: 'type filter hook input priority filter; policy drop;',
      rules: ['ct state new jump nodeport-endpoints-check'],
    });
    expect(table.chains.get('reject-chain')!.rules).toEqual(['reject']);
  });
});
