import type { Explanation } from '../../src/diagnostics/application/explain/explanation.js';
import type { TraceAnswer } from '../../src/diagnostics/application/trace/answer.js';
import type { ServiceList } from '../../src/diagnostics/application/status/service-row.js';
import { sampleOf } from '../support/nightly.js';
import { Command } from '../support/program/command.js';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { cutOff, fallSilent, rejoin, wake } from '../support/testbed/death.js';
import type { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, askTimes, Backend } from '../support/testbed/traffic.js';
import { serviceOfWay, WAYS } from '../support/testbed/ways.js';
import { until } from '../support/until.js';

const web = { what: 'http', dst: '172.30.20.1', port: 80 } as const;
const sticky = { what: 'http', dst: '172.30.20.2', port: 80 } as const;
const refusing = { what: 'http', dst: '172.30.20.3', port: 80 } as const;
const plain = { what: 'http', dst: '172.30.20.4', port: 80 } as const;

const hanging = { what: 'http', dst: '172.30.20.5', port: 80 } as const;
const slow = { what: 'http', dst: '172.30.20.6', port: 80 } as const;

const hashed = { what: 'http', dst: '172.30.20.7', port: 80 } as const;
const kept = { what: 'http', dst: '172.30.20.8', port: 80 } as const;
/** A client whose packets the endpoints drop, as if they were forged, or a network policy were against them. */
const FORGED = '10.244.1.230';

const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
const annotations = { 'kube-proxy-ts/eject-unresponsive-endpoints': 'true' };
const endpoints = ['10.244.1.11', '10.244.1.12'];
const objects = clusterObjects([
  { name: 'web', clusterIP: web.dst, ports, endpoints, annotations },
  { name: 'sticky', clusterIP: sticky.dst, ports, endpoints, annotations, affinitySeconds: 600 },
  {
    name: 'refusing',
    clusterIP: refusing.dst,
    ports,
    endpoints: ['10.244.1.14', '10.244.1.13'],
    annotations,
  },
  {
    name: 'hashed',
    clusterIP: hashed.dst,
    ports,
    endpoints,
    annotations: { ...annotations, 'kube-proxy-ts/load-balancing': 'maglev-source' },
  },
  { name: 'kept', clusterIP: kept.dst, ports, endpoints, annotations, affinitySeconds: 600 },
  { name: 'plain', clusterIP: plain.dst, ports, endpoints },
  { name: 'hanging', clusterIP: hanging.dst, ports, endpoints: ['10.244.1.12', '10.244.1.15'], annotations },
  { name: 'slow', clusterIP: slow.dst, ports, endpoints: ['10.244.1.12', '10.244.1.16'], annotations },
  ...WAYS.map((way) => ({
    ...serviceOfWay(way, ['10.244.1.17', '10.244.1.18', 'fd00:10:244:1::17', 'fd00:10:244:1::18']),
    annotations,
  })),
]);
/** Connections of one client at once: it is as good as certain that either of two endpoints gets three. */
const MANY = 30;

let testbed: Testbed;
let backends: readonly Backend[];
let late: Host;
let silent: Host;

beforeAll(async () => {
  testbed = await Testbed.open();
  backends = [
    await Backend.start(testbed, 'first', '10.244.1.11'),
    await Backend.start(testbed, 'second', '10.244.1.12'),
  ];
  await Backend.start(testbed, 'third', '10.244.1.14');
  // It answers with a reset: nothing listens there.
  await testbed.addPod('closed', '10.244.1.13');
  late = await testbed.addPod('late', '10.244.1.16');
  await late.ask('serve', { name: 'late', port: 8080 });
  await late.run(['tc', 'qdisc', 'add', 'dev', 'eth0', 'root', 'tbf', ...LATE_LINK]);
  const stuck = await testbed.addPod('stuck', '10.244.1.15');
  await stuck.ask('serve', { name: 'stuck', port: 8080, backlog: 1 });
  stuck.hangAgent();
  silent = await testbed.addPod('silent', '10.244.1.17', 'fd00:10:244:1::17');
  const other = await testbed.addPod('other', '10.244.1.18', 'fd00:10:244:1::18');
  for (const host of [silent, other]) await host.ask('serve', { name: 'any', port: 8080 });
});
afterAll(() => testbed.close());

async function answer<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await Command.run(testbed.node, [...args, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

/** How many endpoints step aside, by Service; those without any are left out. */
const asideIn = ({ services }: ServiceList): Record<string, number> =>
  Object.fromEntries(
    services.flatMap(({ name, endpointCounts: { ejected: count } }) =>
      count === undefined ? [] : [[name, count]],
    ),
  );

/** As the proxy itself tells it: to start a program for each look costs twenty times as much. */
async function aside(): Promise<Record<string, number>> {
  const { body } = await testbed.node.get('http://127.0.0.1:10249/debug/services');
  return asideIn(JSON.parse(body) as ServiceList);
}

/** So many connections begin, whoever answers them. */
const begin = (n: number, ...to: readonly { readonly dst: string; readonly port: number }[]) =>
  testbed.pod.send(to.map(({ dst, port }) => ({ dst, port, proto: 'tcp', n })));

/** Opens connections at once: how many stood within a minute, and after how many milliseconds the last one. */
function connect(
  client: Host,
  { dst, port }: { readonly dst: string; readonly port: number },
  n = MANY,
): Promise<{ readonly connected: number; readonly ms: number }> {
  return client.ask('connectMany', { dst, port, n, timeoutMs: 60_000 });
}

/** Four kilobytes a second, after the first 1,600 bytes. */
const LATE_LINK = ['rate', '32kbit', 'burst', '1600', 'limit', '100000'];

/** What `late` sends next waits half a second behind this. */
async function delayAnswers(): Promise<void> {
  const hex = '00'.repeat(1_400);
  for (let n = 0; n < 2; n++)
    await late.ask('sendDatagram', { dst: '198.51.100.11', port: 9, sourcePort: 0, hex });
}

describe.each(sampleOf<ModeName>(['nftables', 'iptables']))('in mode %s', (mode) => {
  let proxy: ProxyProcess;
  beforeAll(async () => {
    // Connections of the same clients are no new ones as long as the kernel knows them.
    await testbed.node.run(['conntrack', '-F']);
    proxy = await ProxyProcess.start({ host: testbed.node, mode, config: testConfig, objects });
    // What the kernel tracked before counts for nothing, so the first walk must be over.
    await until('connections are counted', async () => {
      const { complete } = await answer<{ complete: boolean }>('top', '--once', '--interval', '100ms');
      return complete;
    });
  });
  afterAll(() => proxy?.remove());

  it('an endpoint that is cut off steps aside, and returns; one that refuses does not, nor one of a Service that does not want it', async () => {
    const bound = await askOnce(testbed.pod, sticky);
    const [dead, alive] = bound === 'first' ? backends : backends.toReversed();
    await cutOff(dead!.host);
    await begin(30, web, refusing, plain);
    await begin(5, sticky);
    await until('silent endpoints step aside', async () => Object.keys(await aside()).length === 2);
    expect(asideIn(await answer<ServiceList>('services'))).toEqual({ web: 1, sticky: 1 });

    const names = new Set(await askTimes(20, testbed.pod, web));
    expect([...names]).toEqual([alive!.name]);
    expect(new Set(await askTimes(5, testbed.pod, sticky))).toEqual(new Set([alive!.name]));
    const { families } = await answer<Explanation>('explain', 'default/web');
    expect(families[0]!.ports[0]!.verdicts).toMatchObject([
      {
        state: 'warning',
        cause: 'UnresponsiveEndpoint',
        reason: expect.stringContaining(`${dead!.address}:8080`) as string,
      },
    ]);
    const { endpoints: reached, remarks } = await answer<TraceAnswer>(
      'trace',
      '--from',
      'node',
      '--to',
      `${web.dst}:80`,
    );
    expect(reached.map(({ address }) => address)).toEqual([alive!.address]);
    expect(remarks).toContainEqual(
      expect.stringContaining(`endpoint ${dead!.address}:8080 is ejected since`),
    );
    expect((await Command.run(testbed.node, ['diff'])).exitCode).toBe(0);
    expect(proxy.log).toContain('UnresponsiveEndpoint');

    await rejoin(dead!.host);
    await until('they are tried again', async () => Object.keys(await aside()).length === 0, 60_000);
    expect(new Set(await askTimes(40, testbed.pod, web))).toEqual(new Set(['first', 'second']));
    expect(new Set(await askTimes(5, testbed.pod, sticky))).toEqual(new Set([alive!.name]));
  });

  it('bursts of connections that endpoints do not answer take none away from others, by hash and by affinity', async () => {
    await testbed.pod.run(['ip', 'addr', 'add', `${FORGED}/32`, 'dev', 'eth0']);
    await testbed.node.run(['ip', 'route', 'add', `${FORGED}/32`, 'dev', 'vethpod1']);
    const hosts = backends.map(({ host }) => host);
    const drop = `table inet forged { chain in { type filter hook prerouting priority -300; ip saddr ${FORGED} drop; }; }`;
    for (const host of hosts) await host.run(['nft', '-f', '-'], drop);
    try {
      for (let burst = 0; burst < 5; burst++) {
        const toEach = [hashed, kept].map(
          ({ dst, port }) => ({ src: FORGED, dst, port, proto: 'tcp', n: 5 }) as const,
        );
        await testbed.pod.send(toEach, 1_500);
        expect(await aside()).toEqual({});
      }
    } finally {
      for (const host of hosts) await host.run(['nft', 'delete', 'table', 'inet', 'forged']);
      await testbed.node.run(['ip', 'route', 'del', `${FORGED}/32`, 'dev', 'vethpod1']);
      await testbed.pod.run(['ip', 'addr', 'del', `${FORGED}/32`, 'dev', 'eth0']);
    }
  });

  it('those that were being opened reach another endpoint, by every way', async () => {
    await fallSilent(silent);
    try {
      const reached = WAYS.map(async (way) => {
        const client = way.client === 'endpoint' ? silent : testbed[way.client];
        return [way.name, (await connect(client, way)).connected] as const;
      });
      expect(await Promise.all(reached)).toEqual(WAYS.map(({ name }) => [name, MANY]));
      expect(await aside()).toEqual(Object.fromEntries(WAYS.map(({ name }) => [name, 1])));
    } finally {
      await wake(silent);
    }
  });

  it('one that hangs steps aside once its backlog is full; one that answers late does not', async () => {
    const hang = async (): Promise<void> => {
      // Its backlog takes the first ones.
      for (let n = 0; n < 2; n++)
        expect(await connect(testbed.pod, hanging)).toMatchObject({ connected: MANY });
    };
    const beLate = async (): Promise<number> => {
      let longest = 0;
      for (let n = 0; n < 5; n++) {
        await delayAnswers();
        const { connected, ms } = await connect(testbed.pod, slow, 8);
        expect(connected).toBe(8);
        longest = Math.max(longest, ms);
      }
      return longest;
    };
    const [longest] = await Promise.all([beLate(), hang()]);
    expect(longest).toBeGreaterThan(300);
    const asides = await aside();
    expect(asides).toMatchObject({ hanging: 1 });
    expect(asides).not.toHaveProperty('slow');
    expect(new Set(await askTimes(10, testbed.pod, hanging))).toEqual(new Set(['second']));
  });
});
