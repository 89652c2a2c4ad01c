import {
  listedSide,
  parseJsonListing,
  parseListing,
} from '../../../../../src/diagnostics/adapters/nft-listing/listing.js';
import { compareSides } from '../../../../../src/diagnostics/domain/compare/compare-sides.js';

const TEXT = `table ip kube-proxy {
	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.96.0.10 . tcp . 80 comment "d/web:http" : goto web }
	}

	chain services {
		type nat hook prerouting priority dstnat; policy accept;
		ip daddr . meta l4proto . th dport vmap @service-ips
	}

	chain web {
		ip saddr { 192.0.2.0/24, 198.51.100.7 } meta mark set meta mark | 0x00004000
		meta l4proto tcp dnat ip to numgen random mod 2 map { 0 : 10.244.1.5 . 8080, 1 : 10.244.1.6 . 8080 }
	}

	chain masquerading {
		type nat hook postrouting priority srcnat; policy accept;
		meta mark & 0x00004000 != 0x00000000 masquerade fully-random
	}
}
`;

const base = (name: string, hook: string, prio: number) => ({
  chain: { family: 'ip', table: 'kube-proxy', name, type: 'nat', hook, prio, policy: 'accept' },
});
const rule = (chain: string, ...expr: readonly object[]) => ({
  rule: { family: 'ip', table: 'kube-proxy', chain, expr },
});
const mark = { meta: { key: 'mark' } };
const place = {
  concat: [
    { payload: { protocol: 'ip', field: 'daddr' } },
    { meta: { key: 'l4proto' } },
    { payload: { protocol: 'th', field: 'dport' } },
  ],
};
/** The same, as \`nft -j\` prints it. */
const JSON_OBJECTS = [
  { metainfo: { json_schema_version: 1 } },
  { table: { family: 'ip', name: 'kube-proxy', handle: 1 } },
  {
    map: {
      family: 'ip',
      table: 'kube-proxy',
      name: 'service-ips',
      type: ['ipv4_addr', 'inet_proto', 'inet_service'],
      map: 'verdict',
      elem: [
        [
          { elem: { val: { concat: ['10.96.0.10', 'tcp', 80] }, comment: 'd/web:http' } },
          { goto: { target: 'web' } },
        ],
      ],
    },
  },
  base('services', 'prerouting', -100),
  { chain: { family: 'ip', table: 'kube-proxy', name: 'web' } },
  base('masquerading', 'postrouting', 100),
  rule('services', { vmap: { key: place, data: '@service-ips' } }),
  rule(
    'web',
    {
      match: {
        op: '==',
        left: { payload: { protocol: 'ip', field: 'saddr' } },
        right: { set: [{ prefix: { addr: '192.0.2.0', len: 24 } }, '198.51.100.7'] },
      },
    },
    { mangle: { key: mark, value: { '|': [mark, 16384] } } },
  ),
  rule(
    'web',
    { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'tcp' } },
    {
      dnat: {
        family: 'ip',
        addr: {
          map: {
            key: { numgen: { mode: 'random', mod: 2, offset: 0 } },
            data: {
              set: [
                [0, { concat: ['10.244.1.5', 8080] }],
                [1, { concat: ['10.244.1.6', 8080] }],
              ],
            },
          },
        },
      },
    },
  ),
  rule(
    'masquerading',
    { match: { op: '!=', left: { '&': [mark, 16384] }, right: 0 } },
    { masquerade: { flags: 'fully-random' } },
  ),
];

const NODE = {
  family: 'IPv4',
  localAddresses: new Set(['198.51.100.1']),
  podNetworks: [],
  clusterNetworks: [],
} as const;
const sideOf = (text: string) => listedSide(parseListing(text), 'IPv4')!;

it('means the same as text and as JSON', () => {
  const json = listedSide(parseJsonListing(JSON.stringify({ nftables: JSON_OBJECTS })), 'IPv4')!;
  const all = [...compareSides([sideOf(TEXT), json], NODE)];
  expect(all.filter(({ result }) => result !== 'equal')).toEqual([]);
  const fates = all
    .filter(({ frontend, packet }) => frontend.port === 80 && packet.inputInterface !== undefined)
    .map(({ sides, packet }) => [
      packet.source,
      sides[0].verdicts.map(({ endpoint, masquerade }) => [endpoint?.address, masquerade]),
    ]);
  expect(fates).toEqual([
    [
      '203.0.113.77',
      [
        ['10.244.1.5', false],
        ['10.244.1.6', false],
      ],
    ],
    [
      '192.0.2.0',
      [
        ['10.244.1.5', true],
        ['10.244.1.6', true],
      ],
    ],
    [
      '198.51.100.7',
      [
        ['10.244.1.5', true],
        ['10.244.1.6', true],
      ],
    ],
  ]);
});

it.each([
  ['th sport 53 drop', 'a field of the header'],
  ['limit rate 10/second drop', 'limit'],
  ['ip dscp cs1 drop', 'dscp'],
  ['socket transparent 1 accept', 'socket'],
])('does not claim to understand %s', (statement, what) => {
  const side = sideOf(TEXT.replace('chain web {\n', `chain web {\n\t\t${statement}\n`));
  const unknown = [...compareSides([side, side], NODE)].filter(({ result }) => result === 'unknown');
  expect(unknown.length).toBeGreaterThan(0);
  expect(unknown.flatMap(({ unclear }) => unclear).join()).toContain(what);
});

it('says where a text is none that nft lists', () => {
  expect(() => parseListing('table ip a {\n\tset b\n}')).toThrow('line 2 of what nft listed');
  expect(() => parseJsonListing('{"x": 1}')).toThrow('it has no "nftables"');
});

it('does not count braces in comments of other programs', () => {
  const foreign = `table bridge other {
	comment "}"
	chain a {
		ip daddr 192.0.2.1 comment "{ {"
	}
}
table ip other {
	comment "{"
	counter c { comment "}"
	}
}
`;
  const { tables } = parseListing(foreign + TEXT);
  expect(tables.map(({ name }) => name)).toEqual(['other', 'kube-proxy']);
  expect(tables[1]).toEqual(parseListing(TEXT).tables[0]);
});
