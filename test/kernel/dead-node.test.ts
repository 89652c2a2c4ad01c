import { setTimeout as sleep } from 'node:timers/promises';
import { nightly } from '../support/nightly.js';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { trackedConnections } from '../support/testbed/conntrack.js';
import { fallSilent, wake } from '../support/testbed/death.js';
import type { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';

const CONNECTIONS = nightly ? 10_000 : 400;
/** Opened at once: fewer than wait to be accepted. */
const BATCH = 200;
const MODES: readonly ModeName[] = nightly ? ['nftables', 'iptables'] : ['nftables'];
const web = { dst: '172.30.20.1', port: 80 } as const;
const [DEAD, ALIVE, NEW] = ['10.244.1.11', '10.244.1.12', '10.244.1.13'] as const;

let testbed: Testbed;
let dead: Host;

beforeAll(async () => {
  testbed = await Testbed.open();
  const pods = [DEAD, ALIVE, NEW].map((address, i) => testbed.addPod(`b${i}`, address));
  for (const pod of pods) await (await pod).ask('serveTransfers', { port: 8080 });
  dead = await pods[0]!;
});
afterAll(() => testbed.close());

/** @param other endpoints of another Service */
function objects(endpoints: readonly string[], other: readonly string[]): string {
  const ports = [{ name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
  return clusterObjects([
    { name: 'web', clusterIP: web.dst, ports, endpoints },
    { name: 'other', clusterIP: '172.30.20.2', ports, endpoints: other },
  ]);
}

describe.each(MODES)('a node dies that half of the connections lead to, mode %s', (mode) => {
  let proxy: ProxyProcess;
  beforeAll(async () => {
    await testbed.flushNode();
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode,
      config: testConfig,
      objects: objects([DEAD, ALIVE], []),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await wake(dead);
  });

  async function open(): Promise<readonly number[]> {
    const handles: number[] = [];
    while (handles.length < CONNECTIONS) {
      const batch = Array.from({ length: BATCH }, () => testbed.pod.ask<{ handle: number }>('openTcp', web));
      handles.push(...(await Promise.all(batch)).map(({ handle }) => handle));
    }
    return handles;
  }

  /** How often each thing ended a connection on which the client says something. */
  async function endings(handles: readonly number[]): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    await Promise.all(
      handles.map(async (handle) => {
        const request = { handle, timeoutMs: 110_000 };
        const { ending } = await testbed.pod.ask<{ ending: string }>('sayUntilEnd', request);
        counts[ending] = (counts[ending] ?? 0) + 1;
      }),
    );
    return counts;
  }

  /** Syncs since the start: how many, and how many of them took at most a second, ten times as long as on a busy machine. */
  async function syncs(): Promise<{ readonly all: number; readonly quick: number }> {
    const { body } = await testbed.node.get('http://127.0.0.1:10249/metrics', 10_000);
    const sum = (pattern: RegExp): number =>
      [...body.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
    const name = 'kubeproxy_sync_proxy_rules_duration_seconds';
    return {
      all: sum(new RegExp(`^${name}_count\\{.*\\} (\\S+)$`, 'gm')),
      quick: sum(new RegExp(`^${name}_bucket\\{.*le="1.024".*\\} (\\S+)$`, 'gm')),
    };
  }

  it('its clients are reset, the others keep theirs, and changes are programmed meanwhile', async () => {
    const handles = await open();
    const lost = (await trackedConnections(testbed.node)).filter(({ reply }) => reply.src === DEAD).length;
    await fallSilent(dead);
    await proxy.change(objects([ALIVE, NEW], []));
    const before = await syncs();
    let isOver = false;
    const ended = endings(handles).finally(() => (isOver = true));
    let changes = 0;
    for (; !isOver; changes++) {
      await proxy.change(objects([ALIVE, NEW], changes % 2 === 0 ? [NEW] : []));
      await sleep(2_000);
    }
    expect(await ended).toEqual({ ECONNRESET: lost, 'an answer': handles.length - lost });
    const after = await syncs();
    expect(after.all - before.all).toBeGreaterThanOrEqual(changes);
    expect(after.quick - before.quick).toBe(after.all - before.all);
  });
});
