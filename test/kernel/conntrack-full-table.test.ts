import { readFile, writeFile } from 'node:fs/promises';
import { median } from '../../bench/statistics.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { ConntrackDriver } from './conntrack/driver.js';
import type { EntryToMake } from '../support/traffic/conntrack-entries.js';
import { Driver, DriverBundle } from '../support/program/in-namespace.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';

const entries = 300_000;
/** Bound for an endpoint that goes. */
const leaving = 100_000;
const entry: EntryToMake = {
  protocol: 17,
  source: '100.64.0.1',
  sourcePort: 1,
  destination: '172.30.20.40',
  destinationPort: 53,
  endpoint: '10.244.1.31',
  endpointPort: 5353,
};

let testbed: Testbed;
let bundle: DriverBundle<ConntrackDriver>;
let driver: Driver<ConntrackDriver>;
let proxy: ProxyProcess | undefined;

beforeEach(async () => {
  testbed = await Testbed.open();
  bundle = await DriverBundle.make<ConntrackDriver>(new URL('./conntrack/driver.ts', import.meta.url));
  driver = new Driver(testbed.node.name, bundle.file);
});
afterEach(async () => {
  await driver.close();
  await proxy?.remove();
  await testbed.close();
  await bundle.remove();
});

function objects(dns: readonly string[], web: readonly string[]): string {
  const udp = { name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353 } as const;
  const tcp = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;
  return clusterObjects([
    { name: 'dns', clusterIP: '172.30.20.40', ports: [udp], endpoints: dns },
    { name: 'web', clusterIP: '172.30.20.41', ports: [tcp], endpoints: web },
  ]);
}

async function metric(name: string): Promise<number> {
  const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics');
  return Number(new RegExp(`^${name}(?:\\{ip_family="IPv4"\\})? (\\S+)$`, 'm').exec(body)?.[1] ?? 0);
}

const limitFile = '/proc/sys/net/netfilter/nf_conntrack_max';

/**
 * The machine's limit is raised for so long, which only its own network namespace allows: elsewhere the table is filled as
 * far as the limit lets it. Answers how many entries there is room for.
 */
async function withRoomFor(count: number, use: (room: number) => Promise<void>): Promise<void> {
  const before = Number(await readFile(limitFile, 'utf8'));
  const needed = Math.ceil(count * 1.1);
  if (before >= needed) return use(count);
  const raised = await writeFile(limitFile, String(needed)).then(
    () => true,
    () => false,
  );
  try {
    const room = raised ? count : Math.floor(before * 0.9);
    if (!raised)
      process.stderr.write(`the limit of tracked connections is ${before}: testing with ${room}\n`);
    await use(room);
  } finally {
    if (raised) await writeFile(limitFile, String(before));
  }
}

it(
  'so many entries are walked through in bounded memory, while services are programmed as ever',
  () =>
    withRoomFor(entries, async (count) => {
      const going = Math.min(leaving, count >> 1);
      await driver.ask('makeMany', count - going, entry);
      await driver.ask('makeMany', going, { ...entry, endpoint: '10.244.1.32' }, count - going);
      proxy = await ProxyProcess.start({
        host: testbed.node,
        config: testConfig,
        objects: objects(['10.244.1.31', '10.244.1.32'], []),
      });
      const running = proxy;
      const ours = 'kubeproxy_conntrack_reconciler_sync_duration_seconds_count';
      const deleted = 'kubeproxy_conntrack_reconciler_deleted_entries_total';
      await until('the table was walked through', async () => (await metric(ours)) === 1);
      expect(await metric(deleted)).toBe(0);

      const quiet: number[] = [];
      const busy: number[] = [];
      const memory: number[] = [];
      const change = async (dns: readonly string[], web: number, times: number[]): Promise<void> => {
        const start = performance.now();
        await running.change(objects(dns, [`10.244.1.${web}`]));
        times.push(performance.now() - start);
        memory.push(await metric('process_resident_memory_bytes'));
      };
      for (let web = 50; web < 60; web++) await change(['10.244.1.31', '10.244.1.32'], web, quiet);
      const before = memory.at(-1)!;
      for (let web = 60; web < 70; web++) await change(['10.244.1.31'], web, busy);
      await until(
        'every flow of the endpoint is gone',
        async () => (await metric(deleted)) === going,
        60_000,
      );
      memory.push(await metric('process_resident_memory_bytes'));

      expect(Math.max(...memory)).toBeLessThan(300 * 2 ** 20);
      expect(Math.max(...memory) - before).toBeLessThan(50 * 2 ** 20);
      expect(median(busy)).toBeLessThan(median(quiet) * 5 + 500);
    }),
  120_000,
);
