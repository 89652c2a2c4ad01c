import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { KernelRule } from '../../../src/domain/nftables/kernel/ruleset.js';
import {
  CLEAR_PRIORITY,
  DROP,
  leadTo,
  MASQUERADE,
  markFlip,
  markHas,
  markSet,
  NEW_CONNECTION,
  priorityAtLeast,
  RETURN,
  rule,
  RuleParts,
  setPriority,
  TRANSLATED,
  type DrawnNumber,
  type Key,
  type RulePart,
} from '../../../src/domain/nftables/layout/rule-parts.js';
import type {
  ChainDefinition,
  SetDefinition,
  SetElement,
} from '../../../src/domain/nftables/layout/table.js';
/** One table with every part of rules, set and element: written by hand, with nft's text for each. */

const FRONTEND: Key = ['daddr', 'l4proto', 'dport'];
const NUMBERED: Key = [...FRONTEND, 'priority'];

export interface Sample {
  readonly rule: KernelRule;
  readonly text: string;
}

/** Parts that may stand in any chain. */
export function matchSamples(family: IpFamily): readonly Sample[] {
  const parts = new RuleParts(family);
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  const [network, host, short] =
    family === 'IPv4'
      ? ['10.1.0.0/16', '10.1.2.3', '10.0.0.0/8']
      : ['fd00:10::/48', 'fd00:10::3', 'fd00::/8'];
  const [length, mask] = family === 'IPv4' ? [20, '255.255.240.0'] : [60, 'ffff:ffff:ffff:fff0::'];
  const frontend = `${ip} daddr . meta l4proto . th dport`;
  const one = (part: RulePart, text: string): Sample => ({ rule: rule([part]), text });
  const drawn = (number: DrawnNumber) => setPriority(parts.drawn(number));
  const sources = (sourceBits: number) => parts.member([...FRONTEND, { sourceBits }], 'sources');
  const hashed = (key: Key, modulus: number, offset: number, seed: number) =>
    drawn({ modulus, offset, by: { key, seed } });
  return [
    one(parts.address('saddr', '==', network!), `${ip} saddr ${network}`),
    one(parts.address('saddr', '!=', network!), `${ip} saddr != ${network}`),
    one(parts.address('saddr', '==', short!), `${ip} saddr ${short}`),
    one(parts.address('daddr', '!=', host!), `${ip} daddr != ${host}`),
    one(parts.inputInterface('==', 'cni0', false), 'iifname "cni0"'),
    one(parts.inputInterface('!=', 'veth', true), 'iifname != "veth*"'),
    one(parts.local('saddr'), 'fib saddr type local'),
    one(parts.local('daddr'), 'fib daddr type local'),
    one(NEW_CONNECTION, 'ct state new'),
    one(TRANSLATED, 'ct status dnat'),
    one(parts.member(['daddr'], 'addresses'), `${ip} daddr @addresses`),
    one(parts.member(FRONTEND, 'frontends', '!='), `${frontend} != @frontends`),
    one(sources(length as number), `${frontend} . ${ip} saddr & ${mask} @sources`),
    one(sources(0), `${frontend} . ${ip} saddr & ${family === 'IPv4' ? '0.0.0.0' : '::'} @sources`),
    one(parts.member(['priority', 'saddr'], 'clients'), `meta priority . ${ip} saddr @clients`),
    one(parts.verdict(['priority'], 'classes'), 'meta priority vmap @classes'),
    one(parts.verdict(FRONTEND, 'verdicts'), `${frontend} vmap @verdicts`),
    one(CLEAR_PRIORITY, 'meta priority set none'),
    one(drawn({ modulus: 3, offset: 0 }), 'meta priority set numgen random mod 3'),
    one(drawn({ modulus: 1, offset: 0x80000000 }), 'meta priority set numgen random mod 1 offset 2147483648'),
    one(
      drawn({ modulus: 4093, offset: 0x80000000, by: 'turn' }),
      'meta priority set numgen inc mod 4093 offset 2147483648',
    ),
    one(
      hashed(['saddr', 'sport'], 16381, 0x80000000, 0x6d61676c),
      `meta priority set jhash ${ip} saddr . th sport mod 16381 seed 0x6d61676c offset 2147483648`,
    ),
    one(hashed(['saddr'], 7, 0, 0), `meta priority set jhash ${ip} saddr mod 7 seed 0x0`),
    one(setPriority(parts.mapped(FRONTEND, 'services')), `meta priority set ${frontend} map @services`),
    one(setPriority(parts.mapped(NUMBERED, 'ids')), `meta priority set ${frontend} . meta priority map @ids`),
    one(priorityAtLeast(0x80000000), 'meta priority >= 8000:0'),
    one(markHas(14), 'meta mark & 0x00004000 != 0x00000000'),
    one(markHas(31), 'meta mark & 0x80000000 != 0x00000000'),
    one(markSet(0), 'meta mark set meta mark | 0x00000001'),
    one(markFlip(31), 'meta mark set meta mark ^ 0x80000000'),
    one(
      parts.remember(['priority', 'saddr'], 'clients', 10800),
      `update @clients { meta priority . ${ip} saddr timeout 10800s }`,
    ),
    one({ kind: 'count', counter: 'counted' }, 'counter name "counted"'),
    one(RETURN, 'return'),
    one(DROP, 'drop'),
    one(leadTo('jump', 'target'), 'jump target'),
    one(leadTo('goto', 'target'), 'goto target'),
  ];
}

/** Parts that only chains behind certain hooks may hold. */
export function hookedSamples(
  family: IpFamily,
): Readonly<Record<'destination' | 'source' | 'filter', readonly Sample[]>> {
  const parts = new RuleParts(family);
  const ip = family === 'IPv4' ? 'ip' : 'ip6';
  return {
    destination: [
      {
        rule: rule([parts.translate(NUMBERED, 'endpoints')]),
        text: `th dport != 0 dnat ${ip} to ${ip} daddr . meta l4proto . th dport . meta priority map @endpoints`,
      },
    ],
    source: [
      {
        rule: rule([markHas(14), markFlip(14), MASQUERADE]),
        text: 'meta mark & 0x00004000 != 0x00000000 meta mark set meta mark ^ 0x00004000 masquerade fully-random',
      },
    ],
    filter: [{ rule: rule([parts.reject]), text: 'reject' }],
  };
}

export interface SampleTable {
  readonly comment: string;
  readonly counters: readonly string[];
  readonly sets: readonly { readonly set: SetDefinition; readonly elements: readonly SetElement[] }[];
  readonly chains: readonly { readonly chain: ChainDefinition; readonly rules: readonly KernelRule[] }[];
}

/** A table with all of the above. */
export function sampleTable(family: IpFamily): SampleTable {
  const a = family === 'IPv4' ? '172.30.0.1' : 'fd00:172::1';
  const b = family === 'IPv4' ? '10.1.2.3' : '::102:304';
  const rules = (samples: readonly Sample[]) => samples.map((sample) => sample.rule);
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
      { chain: { name: 'target' }, rules: [rule([DROP], 'the end')] },
      { chain: { name: 'matches' }, rules: rules(matchSamples(family)) },
      { chain: { name: 'picks/a_b.c' }, rules: rules(destination) },
      {
        chain: { name: 'nat-prerouting', hook: { type: 'nat', hook: 'prerouting', priority: -100 } },
        rules: [rule([leadTo('jump', 'picks/a_b.c')])],
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
