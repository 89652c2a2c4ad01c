import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSimulation } from '../run-simulation.js';

/** Milliseconds; nothing depends on them. */
const LIMIT = 300_000;
const folder = mkdtempSync(join(tmpdir(), `t${process.pid}-first-day-`));
afterAll(() => rmSync(folder, { recursive: true }));

/** Everybody's first day: the proxy starts where the rules of a kube-proxy are whose process is gone. */
const firstDay = (mode: string): string => `seed 1
mode ${mode}
families IPv4 IPv6
kernel 6.18.0
iptables nft
source api
0.000 put shop/s1 number=1 type=cluster ports=80/TCP pods=7,8,o9
0.000 put shop/s2 number=2 type=balancer ports=http:80/TCP,https:443/TCP pods=o7,o8n external=Local ranges
0.000 put shop/s3 number=3 type=nodeport ports=dns:53/UDP,dns-tcp:53/TCP pods=3,o4 affinity=30
0.000 put shop/s4 number=4 type=external ports=80/TCP pods= internal=Local
0.000 put shop/s5 number=5 type=balancer ports=9000/SCTP pods=17t,o18 external=Local internal=Local affinity=10800
0.000 put shop/s6 number=6 type=cluster ports=80/TCP pods=o8 internal=Local
0.000 kube-proxy start ${mode}
3.000 kube-proxy stop
3.000 start
6.000 settle
`;

it.each(['iptables', 'ipvs', 'nftables'])(
  'is taken over from, and where rules have the same form nothing is written: mode %s',
  async (mode) => {
    const file = join(folder, mode);
    writeFileSync(file, firstDay(mode));
    const { text } = await runSimulation(`--schedule=${file}`, '--log');
    expect(text).toMatch(/^1 worlds, \d+ commits, 0 failures, /m);
    const written = [...text.matchAll(/programmed everything .*"written":(\d+)/g)].map(([, steps]) =>
      Number(steps),
    );
    expect(written).toHaveLength(2);
    if (mode === 'nftables') for (const steps of written) expect(steps).toBeGreaterThan(100);
    else expect(written).toEqual([0, 0]);
  },
  LIMIT,
);
