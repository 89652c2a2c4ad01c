import { execa } from 'execa';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { TraceCommand } from '../support/program/trace-command.js';
import { met, traced } from '../support/program/traced-node.js';
import { readScenario, type Step } from '../support/recorded/scenarios.js';
import { probe } from '../support/testbed/probe.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';

let testbed: Testbed;
/** Of the rules as they should be. */
let desired: TraceCommand;
/** Of the rules as the kernel has them. */
let actual: TraceCommand;
beforeAll(async () => {
  testbed = await Testbed.open();
  desired = await TraceCommand.start(testbed.node, []);
  actual = await TraceCommand.start(testbed.node, ['--kernel']);
});
afterAll(async () => {
  await Promise.all([desired?.stop(), actual?.stop()]);
  await testbed.close();
});

/** Rules of other programs, and a rule of theirs that must be named. */
const foreign: readonly (readonly [what: string, command: string, culprit: string])[] = [
  [
    'a drop in a table for both families, by a set of ranges',
    `nft 'table inet guard {
       set endpoints { type ipv4_addr . inet_service; flags interval; elements = { 10.244.1.0/24 . 8000-9000, 10.244.2.0/24 . 8000-9000 } }
       chain f { type filter hook forward priority -10; ct state established accept; ip daddr . tcp dport @endpoints counter drop; }
       chain o { type filter hook output priority -10; ip daddr . tcp dport @endpoints drop; }
     }'`,
    'drop',
  ],
  [
    'a chain that drops what it does not know',
    `nft 'table ip fw { chain f { type filter hook forward priority filter; policy drop;
       ct state established,related accept; iifname "vethpod1" ip saddr 10.244.0.0/16 accept; iif lo accept; }
     }'`,
    'policy drop',
  ],
  [
    'a translation before ours',
    `nft 'table ip other { map to { type inet_service : ipv4_addr . inet_service; elements = { 80 : 10.244.1.99 . 9090 } }
       chain p { type nat hook prerouting priority -150; fib daddr type != local ip daddr 172.30.0.0/16 dnat to tcp dport map @to; }
     }'`,
    'dnat',
  ],
  [
    'a masquerade for what goes to pods of this node',
    `nft 'table ip other {
       chain p { type nat hook postrouting priority 90; oifname "vethpod1" meta l4proto { tcp, udp } masquerade; }
     }'`,
    'masquerade',
  ],
  [
    'extensions of iptables',
    `iptables -A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
     iptables -t mangle -A PREROUTING -i ext0 -p udp -m udp --dport 53 -m comment --comment dns -j MARK --set-xmark 0x100/0x300
     iptables -A FORWARD -m mark --mark 0x100/0x100 -m conntrack --ctstate NEW,INVALID -j DROP
     iptables -t nat -I PREROUTING -p tcp -m addrtype ! --dst-type LOCAL -d 172.30.10.1 -m tcp --dport 80 -j DNAT --to-destination 10.244.1.98:9098
     iptables -t nat -I POSTROUTING -d 10.244.1.98 -p tcp -m addrtype ! --src-type LOCAL -j MASQUERADE`,
    'dnat to 10.244.1.98:9098',
  ],
  ['a REJECT of iptables', 'iptables -I FORWARD -p tcp -d 10.244.0.0/16 --dport 8080 -j REJECT', 'reject'],
  ['a DROP of iptables', 'iptables -I INPUT -i ext0 -j DROP; iptables -I FORWARD -i ext0 -j DROP', 'drop'],
];

/** Fills the chain of a table at the hook forward, rule by rule, and empties it again: two thousand transactions a second. */
const busy = `nft 'table ip busy {
  chain f { type filter hook forward priority -10; }
}'
while :; do
  for client in $(seq 200); do echo "add rule ip busy f ip saddr 192.0.2.$client drop"; done
  echo 'flush chain ip busy f'
done | nft -i >/dev/null`;

describe('kubeproxy trace --kernel', () => {
  let proxy: ProxyProcess;
  let step: Step;
  beforeAll(async () => {
    const { config, steps } = await readScenario('clusterip-basic');
    [step] = steps as [Step];
    proxy = await ProxyProcess.start({ host: testbed.node, config, objects: step.objects });
  });
  afterAll(async () => {
    await proxy.remove();
    await testbed.flushNode();
  });
  afterEach(async () => {
    const tables = (await testbed.node.run(['nft', 'list', 'tables'])).split('\n');
    const others = tables.filter((table) => table !== '' && !table.endsWith(' kube-proxy'));
    await testbed.node.run(['nft', others.map((table) => `delete ${table}`).join('; ')]);
  });

  const query = { from: 'outside:198.18.0.50', to: '172.30.10.1:80' };

  it.each(foreign)('answers what packets meet, and names %s', async (_, command, culprit) => {
    const { objects } = step;
    await testbed.node.run(['sh', '-ec', command]);
    const now = { objects, packets: await probe(testbed, objects) };
    expect(met(now)).not.toEqual(met(step));
    expect(await traced(actual, now)).toEqual(met(now));
    // The rules of this program are as they were.
    expect(await traced(desired, step)).toEqual(met(step));
    const [answer] = await actual.answers([query]);
    expect(answer!.steps.filter(({ foreign: isForeign }) => isForeign)).toContainEqual(
      expect.objectContaining({ rule: expect.stringContaining(culprit) as string }),
    );
  });

  it('answers while another program commits all the time, and names its table, which may be another one by now', async () => {
    const [file, ...args] = testbed.node.commandLine(['sh', '-ec', busy]);
    const program = execa(file!, args, { reject: false, detached: true, stdio: 'ignore' });
    try {
      expect(await traced(actual, step)).toEqual(met(step));
      await until('the table that changes all the time is named', async () => {
        const [answer] = await actual.answers([query]);
        const doubts = answer!.steps.filter(({ uncertain }) => uncertain);
        return doubts.some(({ where }) => where === 'ip busy');
      });
    } finally {
      process.kill(-program.pid!);
      await program;
    }
  });
});

describe('kubeproxy trace --from node', () => {
  it('sees that a route leads nowhere', async () => {
    const { config, steps } = await readScenario('dual-stack');
    const { objects } = steps[0]!;
    const services = [...objects.matchAll(/^ {2}clusterIPs:\n((?: {2}- .*\n)+)/gm)].flatMap(([, list]) =>
      [...list!.matchAll(/- (\S+)/g)].map(([, address]) => address!.replace(/'/g, '')),
    );
    const [ipv4, ipv6] = [false, true].map((is6) => services.find((ip) => ip.includes(':') === is6)!);
    const queries = [`${ipv4}:80`, `[${ipv6}]:80`].map((to) => ({ from: 'node', to }));
    const proxy = await ProxyProcess.start({ host: testbed.node, config, objects });
    try {
      for (const type of ['blackhole', 'unreachable', 'prohibit']) {
        await testbed.node.run(['ip', 'route', 'add', type, ipv4!]);
        await testbed.node.run(['ip', '-6', 'route', 'add', type, ipv6!]);
        for (const { outcome, steps: met } of await desired.answers(queries))
          expect([type, outcome, met.at(-1)!.effect]).toEqual([
            type,
            'reject',
            expect.stringMatching(/^no route to/),
          ]);
        await testbed.node.run(['ip', 'route', 'del', type, ipv4!]);
        await testbed.node.run(['ip', '-6', 'route', 'del', type, ipv6!]);
      }
    } finally {
      await proxy.remove();
    }
  });
});
