import type { TraceAnswer } from '../../src/diagnostics/application/trace/answer.js';
import { sampleOf } from '../support/nightly.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { TraceCommand } from '../support/program/trace-command.js';
import { testConfig } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { NodeIptables } from '../support/testbed/iptables-node.js';
import { Testbed } from '../support/testbed/testbed.js';
import { Backend } from '../support/testbed/traffic.js';
import { randomNumbers } from './soak/churn.js';
import { randomCluster, type ServingPod, type Target } from './traced-connections/random-cluster.js';

/** Of each mode. */
const connections = Number(process.env.TRACED_CONNECTIONS ?? 200);
const seed = Number(process.env.TRACED_SEED ?? Date.now() & 0x7fffffff);
const SERVICES = 40;
const AT_A_TIME = 40;

const pods: readonly ServingPod[] = [
  { name: 'b1', address: '10.244.1.11', isLocal: true },
  { name: 'b2', address: '10.244.1.12', isLocal: true },
  { name: 'b3', address: '10.244.1.13', isLocal: true },
  { name: 'f1', address: '10.244.2.11', isLocal: false },
  { name: 'f2', address: '10.244.2.12', isLocal: false },
];

/** Who connects, as `trace` calls it, and the address that it connects from, where its host has several. */
interface Client {
  readonly from: string;
  readonly host: Host;
  readonly src?: string;
}

interface Connection {
  readonly client: Client;
  readonly target: Target;
}

let testbed: Testbed;
let clients: readonly Client[];
beforeAll(async () => {
  testbed = await Testbed.open();
  const backends = await Promise.all(pods.map(({ name, address }) => Backend.start(testbed, name, address)));
  clients = [
    { from: 'node', host: testbed.node },
    { from: '10.244.1.200', host: testbed.pod },
    // Pods that serve: a connection may come back to its own client.
    ...backends
      .filter((_, place) => pods[place]!.isLocal)
      .map(({ address, host }) => ({ from: address, host })),
    ...['198.18.0.50', '203.0.113.5', '192.168.7.7'].map((src) => ({
      from: `outside:${src}`,
      host: testbed.ext,
      src,
    })),
  ];
});
afterAll(() => testbed?.close());

/** The name of the pod that answers, or how the connection ends; more than one thing where the client cannot tell. */
async function met({ client, target }: Connection, timeoutMs: number): Promise<readonly string[]> {
  const { address: dst, port, protocol } = target;
  const { host, src } = client;
  const to = { timeoutMs, ...(src !== undefined && { src }) };
  try {
    const answer =
      protocol === 'TCP'
        ? host.ask<{ body: string }>('httpGet', { url: `http://${dst}:${port}/`, ...to })
        : host.ask<{ body: string }>('udpAsk', { dst, port, ...to });
    return [(await answer).body];
  } catch (error) {
    const text = String(error);
    if (/ECONNREFUSED|EHOSTUNREACH/.test(text)) return ['reject'];
    if (text.includes('no answer within')) return ['drop'];
    // What the node's own programs are told of a datagram that never left it, be it refused or dropped.
    if (text.includes('send EPERM')) return ['reject', 'drop'];
    throw error;
  }
}

function expected({ outcome, endpoints }: TraceAnswer): readonly string[] {
  // All that no rule takes ends in the sink.
  if (outcome !== 'forward') return [outcome === 'untouched' ? 'drop' : outcome];
  return endpoints.map(({ address }) => pods.find((pod) => pod.address === address)!.name);
}

/** What disagrees, for people. A busy machine may answer late, so what seems to be dropped is asked again, with patience. */
async function disagreement(connection: Connection, answer: TraceAnswer): Promise<readonly string[]> {
  const possible = expected(answer);
  const agrees = (found: readonly string[]): boolean => found.some((one) => possible.includes(one));
  let found = await met(connection, 1_000);
  if (!agrees(found) && found.includes('drop')) found = await met(connection, 10_000);
  if (agrees(found)) return [];
  const { client, target } = connection;
  const to = `${target.address}:${target.port}/${target.protocol}`;
  return [`from ${client.from} to ${to}: traced ${possible.join(' or ')}, met ${found.join(' or ')}`];
}

async function disagreements(
  all: readonly Connection[],
  answers: readonly TraceAnswer[],
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = all.entries();
  const worker = async (): Promise<void> => {
    for (const [place, connection] of waiting)
      found.push(...(await disagreement(connection, answers[place]!)));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return found;
}

describe.each(sampleOf(['nftables', 'iptables'] as const))('in mode %s', (mode) => {
  it(`${connections} random connections meet what trace says (TRACED_SEED=${seed})`, async () => {
    const below = randomNumbers(seed);
    const random = (): number => below(1_000_003) / 1_000_003;
    const any = <T>(list: readonly T[]): T => list[below(list.length)]!;
    const { objects, targets } = randomCluster(random, SERVICES, pods);
    await testbed.flushNode();
    if (mode === 'iptables') await new NodeIptables(testbed.node, 'nft').reset();
    const proxy = await ProxyProcess.start({
      host: testbed.node,
      mode,
      config: testConfig,
      objects,
    });
    const trace = await TraceCommand.start(testbed.node, []);
    try {
      const all = Array.from({ length: connections }, () => ({ client: any(clients), target: any(targets) }));
      const answers = await trace.answers(
        all.map(({ client: { from }, target: { address, port, protocol } }) => ({
          from,
          address,
          port,
          protocol,
        })),
      );
      // Every ending is there, or the test shows little.
      const endings = [...new Set(answers.flatMap(expected))];
      expect(endings).toEqual(expect.arrayContaining(['reject', 'drop', ...pods.map(({ name }) => name)]));
      for (const { outcome, reason } of answers)
        if (outcome === 'reject' || outcome === 'drop') expect(reason).toBeTruthy();
      expect(await disagreements(all, answers)).toEqual([]);
    } finally {
      await trace.stop();
      await proxy.remove();
    }
  });
});
