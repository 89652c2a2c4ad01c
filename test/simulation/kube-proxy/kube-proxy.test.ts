import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSimulation } from '../run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 300_000;
const SERVICES = `0.000 put shop/s1 number=1 type=cluster ports=80/TCP pods=7,8,o9
0.000 put shop/s2 number=2 type=balancer ports=http:80/TCP,https:443/TCP pods=o7,o8n external=Local ranges
0.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=3,o4 affinity=30
0.000 put shop/s4 number=4 type=external ports=80/TCP pods= internal=Local
0.000 put shop/s5 number=5 type=balancer ports=9000/SCTP pods=17t,o18 external=Local internal=Local affinity=10800
0.000 put shop/s6 number=6 type=cluster ports=80/TCP pods=o8 internal=Local
`;
const folder = mkdtempSync(join(tmpdir(), `t${process.pid}-first-day-`));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a world prints, with the log of the program. */
async function printed(mode: string, steps: string): Promise<string> {
  const file = join(folder, 'schedule');
  const settings = `seed 1\nmode ${mode}\nfamilies IPv4 IPv6\nkernel 6.18.0\niptables nft\nsource api\n`;
  writeFileSync(file, settings + SERVICES + steps);
  const { text } = await runSimulation(`--schedule=${file}`, '--log');
  expect(text).toMatch(/^1 worlds, \d+ commits, 0 failures, /m);
  return text;
}

it.each(['iptables', 'ipvs', 'nftables'])(
  'is taken over from, and where rules have the same form nothing is written: mode %s',
  async (mode) => {
    const steps = `0.000 kube-proxy start ${mode}\n3.000 kube-proxy stop\n3.000 start\n6.000 settle\n`;
    const text = await printed(mode, steps);
    const written = [...text.matchAll(/programmed everything .*"written":(\d+)/g)].map(([, steps]) =>
      Number(steps),
    );
    expect(written).toHaveLength(2);
    if (mode === 'nftables') for (const steps of written) expect(steps).toBeGreaterThan(100);
    else expect(written).toEqual([0, 0]);
  },
  LIMIT,
);

it(
  'has written the same after partial syncs as after a full one: mode iptables',
  async () => {
    const changes = `2.000 put shop/s1 number=1 type=cluster ports=80/TCP pods=8,21
4.000 put shop/s2 number=2 type=cluster ports=http:80/TCP pods=7,o8
6.000 delete shop/s6
6.000 put shop/s7 number=7 type=external ports=80/TCP pods=4,o5 internal=Local affinity=30
8.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=
10.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=7
`;
    const text = await printed(
      'iptables',
      `0.000 kube-proxy start iptables\n${changes}13.000 kube-proxy stop\n13.000 start\n16.000 settle\n`,
    );
    expect(text.match(/programmed everything .*"written":0,/g)).toHaveLength(2);
  },
  LIMIT,
);

it.each(['iptables', 'ipvs', 'nftables'])(
  'is told of by a proxy of mode nftables, whose table it touches, and gone when both have settled: mode %s',
  async (mode) => {
    const text = await printed('nftables', `0.000 start\n3.000 kube-proxy start ${mode}\n6.000 settle\n`);
    expect(text).toContain('another program changed the rules; repaired them');
  },
  LIMIT,
);
