import { setTimeout as sleep } from 'node:timers/promises';
import { testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { nightly } from '../support/nightly.js';
import { Command } from '../support/program/command.js';
import { Host } from '../support/testbed/host.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import { NodeIptables } from '../support/testbed/iptables-node.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { Churn, randomNumbers } from './soak/churn.js';
import { processFigures, type ProcessFigures } from './soak/process-figures.js';
import type { StandInDriver } from './stand-in/driver.js';
import { until } from '../support/until.js';
import { syncStateOf } from '../support/program/status.js';

const seed = Number(process.env.SOAK_SEED ?? Date.now() & 0x7fffffff);
const metrics = 'http://127.0.0.1:10249';
const MEBIBYTE = 1 << 20;
/** By then damage is repaired and unused chains are gone. Nothing more is broken so shortly before the end. */
const HEALING_MILLISECONDS = 5_000;
/** After many failures in a row, a watch is tried again half a minute later. */
const WATCH_PATIENCE_MILLISECONDS = 60_000;
/** The turns. In the first half of each, the API server speaks protobuf; then, as after it went back to an older version, JSON. */
const turns = [
  { mode: 'nftables', streams: true },
  { mode: 'iptables', streams: false },
  ...(nightly ? ([{ mode: 'nftables', streams: false }] as const) : []),
] as const;
type Mode = (typeof turns)[number]['mode'];
/** So many steps a process takes until what it loads and compiles as it needs it is there: a slow machine has taken few in half of the time. */
const WARM_AFTER = 80;
/** How long it lasts, in seconds: ten a turn, or what `npm run soak` says. */
const seconds = Number(process.env.SOAK_SECONDS ?? 10 * turns.length);

let bundle: DriverBundle<StandInDriver>;
let namespace: Namespace;
let node: Host;
let api: Driver<StandInDriver>;
let proxy: Command;

beforeAll(async () => {
  bundle = await DriverBundle.make<StandInDriver>(new URL('./stand-in/driver.ts', import.meta.url));
  namespace = await Namespace.open('soak');
  node = new Host(namespace.name);
  api = namespace.drive(bundle);
});
afterAll(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
  await node?.killAgent();
  await namespace?.close();
  await bundle?.remove();
});

const random = randomNumbers(seed);
const churn = new Churn(random);

/** What goes wrong around the proxy, one after the other. */
const faults: readonly (() => Promise<unknown>)[] = [
  () => api.ask('disconnectWatches'),
  () => api.ask('fail', { status: 503, times: 3 }),
  () => api.ask('endWatches'),
  () => api.ask('fail', { status: 429, times: 2, retryAfter: 1 }),
  async () => {
    await api.ask('compact');
    await api.ask('disconnectWatches');
  },
  async () => {
    await api.ask('close');
    await sleep(300);
    await api.ask('open');
  },
];

/** Damage to the rules, which the proxy is to repair. A rule that is not there just now cannot be hurt. */
const damage: Record<Mode, readonly (readonly string[])[]> = {
  nftables: [
    ['nft', 'flush', 'set', 'ip', 'kube-proxy', 'cluster-ips'],
    ['nft', 'flush', 'map', 'ip', 'kube-proxy', 'endpoints'],
    ['nft', 'delete', 'table', 'ip', 'kube-proxy'],
  ],
  iptables: [
    ['iptables-nft', '-w', '5', '-t', 'nat', '-F', 'PREROUTING'],
    ['iptables-nft', '-w', '5', '-t', 'nat', '-F', 'KUBE-SERVICES'],
    ['iptables-nft', '-w', '5', '-t', 'nat', '-F'],
  ],
};

async function start(mode: Mode): Promise<void> {
  proxy = await Command.start(node, [
    ...['--kubeconfig', await api.ask('kubeconfig'), '--hostname-override', 'node1'],
    ...['--cluster-cidr', '10.244.0.0/16', '--proxy-mode', mode, '--logging-format', 'json'],
    ...['--conntrack-max-per-core', '0', '--conntrack-min', '0', '--profiling'],
  ]);
  await settled();
}

/** Returns when everything that the API server has is programmed. */
async function settled(): Promise<void> {
  let events = -1;
  await proxy.until(
    'everything is programmed',
    async () => {
      const { idle, appliedEvents } = await syncStateOf(node);
      const watching = (await api.ask('openWatches')) === 4;
      const quiet = idle && watching && appliedEvents === events;
      events = appliedEvents;
      if (quiet) return true;
      await sleep(200);
      throw new Error(JSON.stringify({ idle, watching, appliedEvents }));
    },
    WATCH_PATIENCE_MILLISECONDS,
  );
}

/** Changes, faults and damage for a while, and until there was damage. Returns what the process held in the middle of it. */
async function live(mode: Mode, begin: number, end: number): Promise<ProcessFigures> {
  let damaged = 0;
  let middle: ProcessFigures | undefined;
  for (let step = 0; Date.now() < end || !middle || damaged === 0; step++) {
    if (!middle && step >= WARM_AFTER && Date.now() > (begin + end) / 2) {
      middle = await processFigures(node, metrics);
      await api.ask('offer', { protobuf: false });
      await api.ask('expireWatches');
    }
    const { put, remove } = churn.next();
    await api.ask('put', put);
    for (const { kind, name } of remove)
      await api.ask('remove', kind === 'Service' ? 'v1' : 'discovery.k8s.io/v1', kind, name);
    const mayBreak = damaged === 0 || Date.now() < end - HEALING_MILLISECONDS;
    if (step % 40 === 20 && mayBreak) await faults[random(faults.length)]!();
    if (step % 60 === 30 && mayBreak) {
      // What is to be hurt may be missing just now: two kinds of damage can meet.
      await node.run(damage[mode][random(damage[mode].length)]!).then(
        () => damaged++,
        () => undefined,
      );
    }
    await sleep(40);
  }
  // Failures that hit nobody yet would pile up until the end.
  await api.ask('clearFaults');
  return middle;
}

/** Opened with their first use, and kept: two of connection tracking, and one for each family's clients with affinity. */
const KEPT_SOCKETS = 4;

/** The rules of a mode, free of what differs between two times of writing the same. */
async function rules(mode: Mode): Promise<object> {
  if (mode === 'nftables') {
    return { ip: contentsOf(await readTable(node, 'ip')), ip6: contentsOf(await readTable(node, 'ip6')) };
  }
  const iptables = new NodeIptables(node, 'nft');
  const chains = [...(await iptables.rules('IPv4')), ...(await iptables.rules('IPv6'))];
  return chains.map(([name, chain]) => [name, [...chain].sort()]).sort();
}

it(
  `lives through ${seconds} seconds of changes, faults, damage and restarts (seed ${seed})`,
  async () => {
    await api.ask('put', [testNode, testServiceCidr] as never);
    for (const [turn, { mode, streams }] of turns.entries()) {
      await api.ask('offer', { protobuf: true, streams });
      const begin = Date.now();
      const end = begin + (seconds * 1000) / turns.length;
      await start(mode);
      const first = await processFigures(node, metrics);
      const middle = await live(mode, begin, end);
      await settled();
      // Timers and sockets of what was just going on end within a moment.
      let last = middle;
      await until('nothing is left of what is over', async () => {
        last = await processFigures(node, metrics);
        expect(last.openFiles).toBeLessThanOrEqual(first.openFiles + KEPT_SOCKETS + 2);
        expect(total(last.active)).toBeLessThanOrEqual(total(first.active) + 2);
        return true;
      });
      console.info(`${mode}: live heap ${mib(middle.heapBytes)} → ${mib(last.heapBytes)} MiB`);
      expect(last.heapBytes).toBeLessThan(middle.heapBytes + 3 * MEBIBYTE);
      expect(last.residentBytes).toBeLessThan(250 * MEBIBYTE);
      expect(await api.ask('openWatches')).toBe(4);

      await sleep(HEALING_MILLISECONDS);
      const reached = await rules(mode);
      await proxy.stop(turn === 1 ? 'SIGKILL' : 'SIGTERM');
      expect(problems(proxy.log)).toEqual([]);
      await node.run(['nft', 'flush', 'ruleset']);
      await api.ask('offer', { protobuf: true });
      await start(mode);
      expect(reached).toEqual(await rules(mode));
      await proxy.stop();
    }
  },
  (seconds + 300) * 1000,
);

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);
const mib = (bytes: number): string => (bytes / MEBIBYTE).toFixed(1);

/** Lines of the log that nothing in this test accounts for. */
function problems(log: string): string[] {
  return log.split('\n').filter((line) => /unhandled|TypeError|ReferenceError|MaxListeners/i.test(line));
}
