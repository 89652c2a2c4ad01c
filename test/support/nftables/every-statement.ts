import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type {
  Key,
  Rule,
  Statement,
  ChainDefinition,
  SetDefinition,
  SetElement,
} from '../../../src/domain/nftables/layout/table.js';
/** One table with every kind of statement, set and element: written by hand, with nft's text for each. */

const FRONTEND: Key = [{ field: 'daddr' }, { field: 'l4proto' }, { field: 'dport' }];
const NUMBERED: Key = [...FRONTEND, { field: 'priority' }];

export interface Sample {
  readonly statements: readonly Statement[];
  readonly text: string;
}

/** Statements that may stand in any chain. */
export function matchSamples(family: IpFamily): readonly Sample[] {
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  const [network, host, short] =
    family === 'IPv4'
      ? ['10.1.0.0/16', '10.1.2.3', '10.0.0.0/8']
      : ['fd00:10::/48', 'fd00:10::3', 'fd00::/8'];
  const [length, mask] = family === 'IPv4' ? [20, '255.255.240.0'] : [60, 'ffff:ffff:ffff:fff0::'];
  const frontend = `${ip} daddr . meta l4proto . th dport`;
  const one = (statement: Statement, text: string): Sample => ({ statements: [statement], text });
  return [
    one({ kind: 'address', field: 'saddr', is: '==', network }, `${ip} saddr ${network}`),
    one({ kind: 'address', field: 'saddr', is: '!=', network }, `${ip} saddr != ${network}`),
    one({ kind: 'address', field: 'saddr', is: '==', network: short }, `${ip} saddr ${short}`),
    one({ kind: 'address', field: 'daddr', is: '!=', network: host }, `${ip} daddr != ${host}`),
    one({ kind: 'input-interface', is: '==', name: 'cni0', wildcard: false }, 'iifname "cni0"'),
    one({ kind: 'input-interface', is: '!=', name: 'veth', wildcard: true }, 'iifname != "veth*"'),
    one({ kind: 'dport', is: '==', port: 53 }, 'th dport 53'),
    one({ kind: 'dport', is: '!=', port: 0 }, 'th dport != 0'),
    one({ kind: 'local-address', field: 'saddr' }, 'fib saddr type local'),
    one({ kind: 'local-address', field: 'daddr' }, 'fib daddr type local'),
    one({ kind: 'new-connection' }, 'ct state new'),
    one({ kind: 'translated' }, 'ct status dnat'),
    one({ kind: 'member', key: [{ field: 'daddr' }], set: 'addresses', is: '==' }, `${ip} daddr @addresses`),
    one({ kind: 'member', key: FRONTEND, set: 'frontends', is: '!=' }, `${frontend} != @frontends`),
    one(
      {
        kind: 'member',
        key: [...FRONTEND, { field: 'saddr', prefixLength: length as number }],
        set: 'sources',
        is: '==',
      },
      `${frontend} . ${ip} saddr & ${mask} @sources`,
    ),
    one(
      { kind: 'member', key: [...FRONTEND, { field: 'saddr', prefixLength: 0 }], set: 'sources', is: '==' },
      `${frontend} . ${ip} saddr & ${family === 'IPv4' ? '0.0.0.0' : '::'} @sources`,
    ),
    one(
      { kind: 'member', key: [{ field: 'priority' }, { field: 'saddr' }], set: 'clients', is: '==' },
      `meta priority . ${ip} saddr @clients`,
    ),
    one({ kind: 'verdict-map', key: [{ field: 'priority' }], map: 'classes' }, 'meta priority vmap @classes'),
    one({ kind: 'verdict-map', key: FRONTEND, map: 'verdicts' }, `${frontend} vmap @verdicts`),
    one({ kind: 'set-priority', to: 'none' }, 'meta priority set none'),
    one({ kind: 'set-priority', to: { modulus: 3, offset: 0 } }, 'meta priority set numgen random mod 3'),
    one(
      { kind: 'set-priority', to: { modulus: 1, offset: 0x80000000 } },
      'meta priority set numgen random mod 1 offset 2147483648',
    ),
    one(
      { kind: 'set-priority', to: { modulus: 4093, offset: 0x80000000, by: 'turn' } },
      'meta priority set numgen inc mod 4093 offset 2147483648',
    ),
    one(
      {
        kind: 'set-priority',
        to: {
          modulus: 16381,
          offset: 0x80000000,
          by: { key: [{ field: 'saddr' }, { field: 'sport' }], seed: 0x6d61676c },
        },
      },
      `meta priority set jhash ${ip} saddr . th sport mod 16381 seed 0x6d61676c offset 2147483648`,
    ),
    one(
      {
        kind: 'set-priority',
        to: { modulus: 7, offset: 0, by: { key: [{ field: 'saddr' }], seed: 0 } },
      },
      `meta priority set jhash ${ip} saddr mod 7 seed 0x0`,
    ),
    one(
      { kind: 'set-priority', to: { key: FRONTEND, map: 'services' } },
      `meta priority set ${frontend} map @services`,
    ),
    one(
      { kind: 'set-priority', to: { key: NUMBERED, map: 'ids' } },
      `meta priority set ${frontend} . meta priority map @ids`,
    ),
    one({ kind: 'priority-at-least', value: 0x80000000 }, 'meta priority >= 8000:0'),
    one({ kind: 'mark-has', bit: 14 }, 'meta mark & 0x00004000 != 0x00000000'),
    one({ kind: 'mark-has', bit: 31 }, 'meta mark & 0x80000000 != 0x00000000'),
    one({ kind: 'mark-set', bit: 0 }, 'meta mark set meta mark | 0x00000001'),
    one({ kind: 'mark-flip', bit: 31 }, 'meta mark set meta mark ^ 0x80000000'),
    one(
      {
        kind: 'remember',
        key: [{ field: 'priority' }, { field: 'saddr' }],
        set: 'clients',
        timeoutSeconds: 10800,
      },
      `update @clients { meta priority . ${ip} saddr timeout 10800s }`,
    ),
    one({ kind: 'count', counter: 'counted' }, 'counter name "counted"'),
    one({ kind: 'return' }, 'return'),
    one({ kind: 'drop' }, 'drop'),
    one({ kind: 'jump', chain: 'target' }, 'jump target'),
    one({ kind: 'goto', chain: 'target' }, 'goto target'),
  ];
}

/** Statements that only chains behind certain hooks may hold. */
export function hookedSamples(
  family: IpFamily,
): Readonly<Record<'destination' | 'source' | 'filter', readonly Sample[]>> {
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  return {
    destination: [
      {
        statements: [
          { kind: 'dport', is: '!=', port: 0 },
          { kind: 'dnat', key: NUMBERED, map: 'endpoints' },
        ],
        text: `th dport != 0 dnat ${ip} to ${ip} daddr . meta l4proto . th dport . meta priority map @endpoints`,
      },
    ],
    source: [
      {
        statements: [{ kind: 'mark-has', bit: 14 }, { kind: 'mark-flip', bit: 14 }, { kind: 'masquerade' }],
        text: 'meta mark & 0x00004000 != 0x00000000 meta mark set meta mark ^ 0x00004000 masquerade fully-random',
      },
    ],
    filter: [{ statements: [{ kind: 'reject' }], text: 'reject' }],
  };
}

export interface SampleTable {
  readonly comment: string;
  readonly counters: readonly string[];
  readonly sets: readonly { readonly set: SetDefinition; readonly elements: readonly SetElement[] }[];
  readonly chains: readonly { readonly chain: ChainDefinition; readonly rules: readonly Rule[] }[];
}

/** A table with all of the above. */
export function sampleTable(family: IpFamily): SampleTable {
  const a = family === 'IPv4' ? '172.30.0.1' : 'fd00:172::1';
  const b = family === 'IPv4' ? '10.1.2.3' : '::102:304';
  const rules = (samples: readonly Sample[]): Rule[] => samples.map(({ statements }) => ({ statements }));
  const { destination, source, filter } = hookedSamples(family);
  return {
    comment: 'rules for kube-proxy',
    counters: ['counted'],
    sets: [
      {
        set: { name: 'addresses', key: ['address'], comment: 'Active ClusterIPs' },
        elements: [{ key: a }, { key: b, comment: 'x, y' }],
      },
      {
        set: { name: 'frontends', key: ['address', 'protocol', 'port'] },
        elements: [{ key: `${a} . tcp . 80` }, { key: `${b} . sctp . 443` }],
      },
      {
        set: { name: 'sources', key: ['address', 'protocol', 'port', 'address'] },
        elements: [{ key: `${a} . udp . 53 . ${b}` }],
      },
      { set: { name: 'clients', key: ['priority', 'address'], dynamicSize: 1024 }, elements: [] },
      {
        set: { name: 'classes', key: ['priority'], value: 'verdict' },
        elements: [
          { key: '1:2', value: 'goto target' },
          { key: '8000:0', value: 'jump target', comment: 'ns/name:port' },
        ],
      },
      {
        set: { name: 'verdicts', key: ['address', 'protocol', 'port'], value: 'verdict' },
        elements: [{ key: `${a} . tcp . 80`, value: 'drop', comment: 'a {b}; #c, d' }],
      },
      {
        set: { name: 'services', key: ['address', 'protocol', 'port'], value: ['priority'] },
        elements: [
          { key: `${a} . tcp . 80`, value: '1:2' },
          { key: `${a} . udp . 80`, value: '0:3' },
          { key: `${a} . sctp . 80`, value: 'none' },
        ],
      },
      {
        set: { name: 'ids', key: ['address', 'protocol', 'port', 'priority'], value: ['priority'] },
        elements: [{ key: `${a} . tcp . 80 . 8000:0`, value: '8000:1' }],
      },
      {
        set: { name: 'nodeport-ids', key: ['protocol', 'port', 'priority'], value: ['address', 'port'] },
        elements: [{ key: 'tcp . 80 . 8000:1', value: `${b} . 80` }],
      },
      {
        set: {
          name: 'endpoints',
          key: ['address', 'protocol', 'port', 'priority'],
          value: ['address', 'port'],
        },
        elements: [
          { key: `${a} . tcp . 80 . none`, value: `${b} . 8080` },
          { key: `${a} . tcp . 80 . 8000:1`, value: `${b} . 8081`, comment: 'second' },
        ],
      },
    ],
    chains: [
      { chain: { name: 'target' }, rules: [{ statements: [{ kind: 'drop' }], comment: 'the end' }] },
      { chain: { name: 'matches' }, rules: rules(matchSamples(family)) },
      { chain: { name: 'picks/a_b.c' }, rules: rules(destination) },
      {
        chain: { name: 'nat-prerouting', hook: { type: 'nat', hook: 'prerouting', priority: -100 } },
        rules: [{ statements: [{ kind: 'jump', chain: 'picks/a_b.c' }] }],
      },
      {
        chain: { name: 'nat-postrouting', hook: { type: 'nat', hook: 'postrouting', priority: 100 } },
        rules: rules(source),
      },
      {
        chain: { name: 'filter-input', hook: { type: 'filter', hook: 'input', priority: 0 } },
        rules: rules(filter),
      },
      {
        chain: { name: 'filter-pre', hook: { type: 'filter', hook: 'prerouting', priority: -110 } },
        rules: [],
      },
    ],
  };
}
