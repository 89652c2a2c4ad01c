import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { nightly } from '../support/nightly.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { readTable } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend, errorsOf, SteadyClient } from '../support/testbed/traffic.js';

const families = ['ip', 'ip6'] as const;
type Family = (typeof families)[number];
const PORT = 30_080;
const SETTINGS = {
  off: {},
  rejected: { gate: true, nodePortAddresses: ['primary'] },
  relayed: { gate: true, nodePortAddresses: ['primary', 'localhost'] },
} as const;
type Setting = keyof typeof SETTINGS;
/** By day a change to each setting, at night from each to each. */
const SEQUENCE: readonly Setting[] = nightly
  ? ['off', 'rejected', 'relayed', 'rejected', 'off', 'relayed', 'off']
  : ['off', 'rejected', 'relayed', 'off'];

function configOf(base: string, setting: Setting): string {
  const { gate, nodePortAddresses }: { gate?: true; nodePortAddresses?: readonly string[] } =
    SETTINGS[setting];
  const featureGates = { KubeProxyNFTablesLocalhostNodePorts: gate ?? false };
  return stringify({
    ...(parse(base) as object),
    featureGates,
    ...(nodePortAddresses && { nodePortAddresses }),
  });
}

const ports = [
  { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: PORT },
  { name: 'dns', protocol: 'UDP', port: 53, targetPort: 8080, nodePort: PORT },
] as const;

let testbed: Testbed;
let proxy: ProxyProcess | undefined;
beforeEach(async () => {
  testbed = await Testbed.open();
});
afterEach(async () => {
  await proxy?.remove();
  proxy = undefined;
  await testbed.close();
});

async function restarted(config: string, objects: string): Promise<ProxyProcess> {
  await proxy?.stop();
  await proxy?.remove();
  return (proxy = await ProxyProcess.start({ host: testbed.node, config, objects }));
}

/** The names of what the table has for node ports on loopback addresses, as nft lists them. */
async function objectsOf(family: Family): Promise<readonly string[]> {
  const listing = await testbed.node.run(['nft', 'list', 'table', family, 'kube-proxy']);
  return [...listing.matchAll(/^\t(\w+ localhost-\S+) \{$/gm)].map(([, name]) => name!).sort();
}

const namesFor = (...protocols: readonly string[]): readonly string[] =>
  [
    'map localhost-nodeport-reject-ports',
    ...protocols.flatMap((protocol) => [
      `chain localhost-nodeport-reject-${protocol}`,
      `counter localhost-nodeport-rejected-${protocol}`,
    ]),
  ].sort();
const EXPECTED: Readonly<Record<Setting, readonly string[]>> = {
  off: [],
  rejected: namesFor('tcp', 'udp', 'sctp'),
  relayed: namesFor('udp', 'sctp'),
};

it('refuses and counts packets to node ports on loopback addresses, by the gate and explicit loopback, and disturbs nothing', async () => {
  const { node, pod } = testbed;
  const { address } = await Backend.start(testbed, 'b1', '10.244.1.11');
  const objects = clusterObjects([
    { name: 'web', clusterIP: '172.30.20.31', ports, endpoints: [address] },
    { name: 'web6', clusterIP: 'fd00:172::31', ports, endpoints: [] },
  ]);
  // Whoever listens there is reached unless a rule refuses it.
  await node.ask('serve', { name: 'listener', port: PORT });
  const reached = (...question: Parameters<typeof askOnce>): Promise<string> =>
    askOnce(...question).catch(() => 'refused');
  const answers = async () => ({
    TCP: [
      await reached(node, { what: 'http', dst: '127.0.0.1', port: PORT }),
      await reached(node, { what: 'http', dst: '[::1]', port: PORT }),
    ],
    UDP: [
      await reached(node, { what: 'udp', dst: '127.0.0.1', port: PORT }),
      await reached(node, { what: 'udp', dst: '::1', port: PORT }),
    ],
  });
  const metrics = async () => {
    const { body } = await node.get('http://127.0.0.1:10249/metrics');
    const found = body.matchAll(
      /^kubeproxy_nftables_localhost_\w+_total\{ip_family="(\w+)",protocol="(\w+)"\} (\d+)$/gm,
    );
    return Object.fromEntries(
      [...found].map(([, family, protocol, count]) => [`${family} ${protocol}`, Number(count) > 0]),
    );
  };
  /** By the rules as they should be, and as the kernel has them. */
  const traces = async () => {
    const questions = ['127.0.0.1', '[::1]'].flatMap((to) =>
      [false, true].map((kernel) => `from=node&to=${to}:${PORT}/TCP${kernel ? '&kernel=true' : ''}`),
    );
    const outcomes: string[] = [];
    for (const question of questions) {
      const { body } = await node.get(`http://127.0.0.1:10249/debug/trace?${question}`);
      const { outcome, steps } = JSON.parse(body) as {
        outcome: string;
        steps: { rule: string; effect: string }[];
      };
      const { rule, effect } = steps.at(-1)!;
      outcomes.push(`${outcome}: ${rule || effect}`);
    }
    return [...new Set(outcomes)];
  };
  const [listens, refused] = [
    ['listener', 'listener'],
    ['refused', 'refused'],
  ];
  const expected: Readonly<Record<Setting, object>> = {
    off: {
      answers: { TCP: listens, UDP: listens },
      metrics: {},
      traces: [expect.stringMatching(/^reject: a node port that this address does not serve/)],
    },
    rejected: {
      answers: { TCP: refused, UDP: refused },
      metrics: {
        ...{ 'IPv4 TCP': true, 'IPv4 UDP': true, 'IPv4 SCTP': false },
        ...{ 'IPv6 TCP': true, 'IPv6 UDP': true, 'IPv6 SCTP': false },
      },
      traces: ['reject: counter name "localhost-nodeport-rejected-tcp" reject'],
    },
    relayed: {
      answers: { TCP: listens, UDP: refused },
      metrics: { 'IPv4 UDP': true, 'IPv4 SCTP': false, 'IPv6 UDP': true, 'IPv6 SCTP': false },
      traces: [expect.stringMatching(/^untouched: goes to the proxy itself/)],
    },
  };
  let client: SteadyClient | undefined;
  for (const setting of SEQUENCE) {
    await restarted(configOf(testConfig, setting), objects);
    client ??= await SteadyClient.start(pod, { what: 'http', dst: '172.30.20.31', port: 80 }, 10);
    expect([setting, { answers: await answers(), metrics: await metrics(), traces: await traces() }]).toEqual(
      [setting, expected[setting]],
    );
    for (const family of families) expect(await objectsOf(family)).toEqual(EXPECTED[setting]);
    expect(await askOnce(pod, { what: 'http', dst: '198.51.100.11', port: PORT })).toBe('b1');
    expect(proxy!.log).not.toContain('cannot remove');
  }
  expect(errorsOf(await client!.stop())).toEqual({});
});

/** What was recorded of kube-proxy 1.36: its first transactions (test/conformance/rollback). */
const recorded = (name: string): Promise<string> =>
  readFile(new URL(`../conformance/rollback/${name}`, import.meta.url), 'utf8');
/** As kube-proxy was configured for the recording. */
const recordedConfig = stringify({
  ...(parse(testConfig) as object),
  hostnameOverride: 'clnode1',
});

/** What kube-proxy 1.37 adds to that (docs/internals/spec/changes-1.37.md §4.2). */
function addedBy137(family: Family, setting: Setting): string {
  const loopback = family === 'ip' ? 'ip daddr 127.0.0.0/8' : 'ip6 daddr ::1';
  const rejected: readonly string[] = {
    off: [],
    rejected: ['tcp', 'udp', 'sctp'],
    relayed: ['udp', 'sctp'],
  }[setting];
  const table = `${family} kube-proxy`;
  const map = `${table} localhost-nodeport-reject-ports`;
  const ofProtocol = (protocol: string): readonly string[] => {
    const [chain, counter] = [
      `${table} localhost-nodeport-reject-${protocol}`,
      `${table} localhost-nodeport-rejected-${protocol}`,
    ];
    if (!rejected.includes(protocol))
      return [
        `add chain ${chain}`,
        `delete chain ${chain}`,
        `add counter ${counter}`,
        `delete counter ${counter}`,
      ];
    return [
      `add counter ${counter}`,
      `add chain ${chain}`,
      `flush chain ${chain}`,
      `add rule ${chain} counter name "localhost-nodeport-rejected-${protocol}" reject`,
      ...(protocol === 'udp'
        ? [`add element ${map} { udp . 30181 : goto localhost-nodeport-reject-udp }`]
        : []),
    ];
  };
  return [
    `add map ${map} { type inet_proto . inet_service : verdict ; comment "localhost NodePorts rejected by kube-proxy" ; }`,
    ...(setting === 'off' ? [`delete map ${map}`] : []),
    ...['tcp', 'udp', 'sctp'].flatMap(ofProtocol),
    ...(setting === 'off'
      ? []
      : [
          `add rule ${table} nodeport-endpoints-check ${loopback} meta l4proto . th dport vmap @localhost-nodeport-reject-ports`,
        ]),
    '',
  ].join('\n');
}

const ways: [ours: Setting, theirs: Setting | '1.36'][] = [
  ['rejected', '1.36'],
  ['off', 'rejected'],
];
if (nightly) ways.push(['relayed', 'relayed'], ['rejected', 'off'], ['rejected', 'rejected']);

it.each(ways)('%s, goes back to kube-proxy, %s, and to this proxy again', async (ours, theirs) => {
  const objects = await recorded('objects.json');
  const config = configOf(recordedConfig, ours);
  await restarted(config, objects);
  const before = await Promise.all(families.map((family) => readTable(testbed.node, family)));
  await proxy!.stop();
  for (const family of families) {
    const start = await recorded(`kube-proxy-start-${family}.nft`);
    const more = theirs === '1.36' ? '' : addedBy137(family, theirs);
    await testbed.node.run(['nft', '-f', '-'], start + more);
    if (theirs !== '1.36') expect(await objectsOf(family)).toEqual(EXPECTED[theirs]);
  }
  await proxy!.startAgain();
  const after = await Promise.all(families.map((family) => readTable(testbed.node, family)));
  const shown = (tables: typeof before) =>
    tables.map((table) => [...table.values()].map(({ handle: _, ...object }) => object));
  expect(shown(after)).toEqual(shown(before));
  for (const family of families) expect(await objectsOf(family)).toEqual(EXPECTED[ours]);
});
