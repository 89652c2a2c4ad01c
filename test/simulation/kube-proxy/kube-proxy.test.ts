import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSimulation } from '../run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 300_000;
const MODES = ['iptables', 'ipvs', 'nftables'] as const;
const SERVICES = `0.000 put shop/s1 number=1 type=cluster ports=80/TCP pods=7,8,o9
0.000 put shop/s2 number=2 type=balancer ports=http:80/TCP,https:443/TCP pods=o7,o8n external=Local ranges
0.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=3,o4 affinity=30
0.000 put shop/s4 number=4 type=external ports=80/TCP pods= internal=Local
0.000 put shop/s5 number=5 type=balancer ports=9000/SCTP pods=17t,o18 external=Local internal=Local affinity=10800
0.000 put shop/s6 number=6 type=cluster ports=80/TCP pods=o8 internal=Local
`;
const CHANGES = `2.000 put shop/s1 number=1 type=cluster ports=80/TCP pods=8,21
4.000 put shop/s2 number=2 type=cluster ports=http:80/TCP pods=7,o8
6.000 delete shop/s6
6.000 put shop/s7 number=7 type=external ports=80/TCP pods=4,o5 internal=Local affinity=30
8.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=
10.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=7
`;

/** A world, and the mode in which the program begins. */
interface World {
  readonly mode: (typeof MODES)[number];
  readonly steps: string;
}

const takenOver = (mode: World['mode'], changes = '', end = 3): World => ({
  mode,
  steps: `0.000 kube-proxy start ${mode}\n${changes}${end}.000 kube-proxy stop\n${end}.000 start\n${end + 3}.000 settle\n`,
});
const besides = (mode: string): World => ({
  mode: 'nftables',
  steps: `0.000 start\n3.000 kube-proxy start ${mode}\n6.000 settle\n`,
});
const WORLDS: Readonly<Record<string, World>> = {
  ...Object.fromEntries(MODES.map((mode) => [`after ${mode}`, takenOver(mode)])),
  ...Object.fromEntries(MODES.map((mode) => [`beside ${mode}`, besides(mode)])),
  'after changes': takenOver('iptables', CHANGES, 13),
};

/** What the program logged in each world. */
let logs: ReadonlyMap<string, string>;
const folder = mkdtempSync(join(tmpdir(), `t${process.pid}-first-day-`));

// In one process: to bundle the program takes longer than a world.
beforeAll(async () => {
  const files = Object.entries(WORLDS).map(([name, { mode, steps }], index) => {
    const settings = `seed ${index}\nmode ${mode}\nfamilies IPv4 IPv6\nkernel 6.18.0\niptables nft\nsource api\n`;
    const file = join(folder, name);
    writeFileSync(file, settings + SERVICES + steps);
    return `--schedule=${file}`;
  });
  const { text } = await runSimulation('--log', '--digest', ...files);
  expect(text).toMatch(new RegExp(`^${files.length} worlds, \\d+ commits, 0 failures, `, 'm'));
  // Each world ends with its digest.
  const parts = text.split(/^seed \d+: .*\n/m);
  logs = new Map(Object.keys(WORLDS).map((name, index) => [name, parts[index]!]));
}, LIMIT);
afterAll(() => rmSync(folder, { recursive: true }));

/** In how many steps everything was programmed, for each family. */
function stepsToEverything(world: string): readonly number[] {
  const found = logs.get(world)!.matchAll(/programmed everything .*"written":(\d+)/g);
  return [...found].map(([, steps]) => Number(steps));
}

it.each(MODES)(
  'is taken over from, and where rules have the same form nothing is written: mode %s',
  (mode) => {
    const written = stepsToEverything(`after ${mode}`);
    expect(written).toHaveLength(2);
    if (mode === 'nftables') for (const steps of written) expect(steps).toBeGreaterThan(100);
    else expect(written).toEqual([0, 0]);
  },
);

it('has written the same after partial syncs as after a full one: mode iptables', () => {
  expect(stepsToEverything('after changes')).toEqual([0, 0]);
});

it.each(MODES)(
  'is told of by a proxy of mode nftables, whose table it touches, and gone when both have settled: mode %s',
  (mode) => {
    expect(logs.get(`beside ${mode}`)).toContain('another program changed the rules; repaired them');
  },
);
