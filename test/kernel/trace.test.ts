import type { TraceAnswer } from '../../src/application/trace/answer.js';
import { destinationText, sourceText } from '../../src/domain/trace/query.js';
import { builtProxy } from '../support/program/built-proxy.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { readScenario, scenarioNames, type Step } from '../support/recorded/scenarios.js';
import { queryOf, verdictOf } from '../support/recorded/traced-scenarios.js';
import { probe } from '../support/testbed/probe.js';
import { planOf } from '../support/testbed/probe-plan.js';
import { Testbed } from '../support/testbed/testbed.js';

const names = await scenarioNames();
let testbed: Testbed;
beforeAll(async () => {
  testbed = await Testbed.open();
});
afterAll(() => testbed.close());
beforeEach(() => testbed.flushNode());

/** Runs the command on the node, where it asks the running proxy. */
async function trace(args: readonly string[], input = ''): Promise<string> {
  return testbed.node.run([process.execPath, await builtProxy(), 'trace', ...args], input);
}

async function answers(args: readonly string[], queries: readonly object[]): Promise<TraceAnswer[]> {
  const input = queries.map((query) => `${JSON.stringify(query)}\n`).join('');
  const output = await trace(['--queries', '-', ...args], input);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TraceAnswer);
}

/** What the command says about everything that was probed. */
async function traced({ objects, packets }: Step, args: readonly string[]): Promise<object> {
  const probes = (['ipv4', 'ipv6'] as const).flatMap((family) => {
    const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
    return Object.keys(packets[family] ?? {}).map((key) => {
      const [label, client] = key.split(' from ') as [string, string];
      return { key: `${family} ${key}`, query: queryOf(targets.get(label)!, client, family) };
    });
  });
  const asked = probes.map(({ query }) => ({ from: sourceText(query.from), to: destinationText(query) }));
  const answered = await answers(args, asked);
  return Object.fromEntries(probes.map(({ key }, place) => [key, verdictOf(answered[place]!)]));
}

function recorded({ packets }: Step): object {
  return Object.fromEntries(
    (['ipv4', 'ipv6'] as const).flatMap((family) =>
      Object.entries(packets[family] ?? {}).map(([key, verdict]) => [`${family} ${key}`, verdict]),
    ),
  );
}

describe('kubeproxy trace, asking a running proxy', () => {
  it.each(names)('answers what packets met in %s', async (name) => {
    const { config, steps } = await readScenario(name);
    const [step] = steps as [Step];
    const { objects } = step;
    const proxy = await ProxyProcess.start({ host: testbed.node, transport: 'netlink', config, objects });
    try {
      expect(await traced(step, [])).toEqual(recorded(step));
      expect(await traced(step, ['--kernel'])).toEqual(recorded(step));
    } finally {
      await proxy.remove();
    }
  });
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

describe('kubeproxy trace --kernel, with rules of other programs', () => {
  it.each(foreign)('answers what packets meet, and names %s', async (_, command, culprit) => {
    const { config, steps } = await readScenario('clusterip-basic');
    const [step] = steps as [Step];
    const { objects } = step;
    const proxy = await ProxyProcess.start({ host: testbed.node, transport: 'netlink', config, objects });
    try {
      await testbed.node.run(['sh', '-ec', command]);
      const { ipv4, ipv6 } = await probe(testbed, objects);
      const met = recorded({ ...step, packets: { ipv4, ipv6 } });
      expect(met).not.toEqual(recorded(step));
      expect(await traced({ ...step, packets: { ipv4, ipv6 } }, ['--kernel'])).toEqual(met);
      const [answer] = await answers(['--kernel'], [{ from: 'outside:198.18.0.50', to: '172.30.10.1:80' }]);
      expect(answer!.steps.filter(({ isForeign }) => isForeign)).toContainEqual(
        expect.objectContaining({ rule: expect.stringContaining(culprit) as string }),
      );
    } finally {
      await proxy.remove();
    }
  });
});
