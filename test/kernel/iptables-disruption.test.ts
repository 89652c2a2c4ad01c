import { setTimeout as sleep } from 'node:timers/promises';
import { clusterObjects, testConfig } from './cluster-objects.js';
import { iptablesVariants, NodeIptables, type ChainSinceMark } from './iptables-node.js';
import { ProxyProcess } from './proxy-process.js';
import { Testbed } from './testbed.js';
import { askTimes, Backend } from './traffic.js';
import { until } from './until.js';

const web = { what: 'http', dst: '172.30.20.12', port: 80 } as const;
const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;
const HEALED_WITHIN = 5_000;

function objects(endpoints: readonly string[]): string {
  return clusterObjects([
    { name: 'web', clusterIP: web.dst, ports: [{ ...http, nodePort: 30192 }], endpoints },
    { name: 'other', clusterIP: '172.30.20.13', ports: [http], endpoints: endpoints.slice(0, 1) },
    { name: 'empty', clusterIP: '172.30.20.14', ports: [http], endpoints: [] },
  ]);
}

/** The real program with its default periods: it has to notice by itself. */
describe.each(iptablesVariants)('rules of iptables-%s damaged by somebody else', (variant) => {
  let testbed: Testbed;
  let iptables: NodeIptables;
  let proxy: ProxyProcess;
  let before: Map<string, ChainSinceMark>;

  beforeAll(async () => {
    testbed = await Testbed.open();
    iptables = new NodeIptables(testbed.node, variant);
    await iptables.reset();
    const backends = await Promise.all(
      [1, 2].map((number) => Backend.start(testbed, `b${number}`, `10.244.1.${10 + number}`)),
    );
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode: 'iptables',
      transport: 'netlink',
      config: testConfig,
      objects: objects(backends.map(({ address }) => address)),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed?.close();
  });
  beforeEach(async () => {
    await iptables.mark('IPv4');
    before = await iptables.chains('IPv4');
    expect(touched(before)).toEqual([]);
  });

  const run = (...parameters: readonly string[]): Promise<void> => iptables.run('IPv4', ...parameters);
  const rulesOf = (chains: Map<string, ChainSinceMark>): Record<string, readonly string[]> =>
    Object.fromEntries([...chains].map(([name, { rules }]) => [name, rules]));
  const touched = (chains: Map<string, ChainSinceMark>): string[] =>
    [...chains].filter(([, { written }]) => written.length > 0).map(([name]) => name);

  /** Returns the chains in which a rule was written, once all rules are as they were, or as expected. */
  async function repaired(expected = rulesOf(before)): Promise<string[]> {
    let after = before;
    await until(
      'the rules are right again',
      async () => {
        after = await iptables.chains('IPv4');
        expect(rulesOf(after)).toEqual(expected);
        return true;
      },
      HEALED_WITHIN,
    );
    expect(await askTimes(4, testbed.pod, web)).toHaveLength(4);
    return touched(after).sort();
  }

  /** The one service chain of a kind that a text of its rules tells apart. */
  function chainOf(kind: 'SVC' | 'SEP', text: string): string {
    const found = [...before].filter(
      ([name, { rules }]) =>
        name.startsWith(`nat KUBE-${kind}-`) && rules.some((rule) => rule.includes(text)),
    );
    expect(found).toHaveLength(1);
    return found[0]![0].slice('nat '.length);
  }

  it.each([
    ['nat', 'PREROUTING', '-j KUBE-SERVICES'],
    ['nat', 'POSTROUTING', '-j KUBE-POSTROUTING'],
    ['filter', 'FORWARD', '-j KUBE-FORWARD'],
  ])('puts back a jump alone, deleted in %s %s', async (table, chain, jump) => {
    const name = `${table} ${chain}`;
    const { rules } = before.get(name)!;
    const deleted = rules.findIndex((rule) => rule.endsWith(jump));
    expect(deleted).toBeGreaterThanOrEqual(0);
    await run('-t', table, '-D', chain, String(deleted + 1));
    // As kube-proxy does: at the head, wherever it was; the chain's other rules stay.
    const expected = { ...rulesOf(before), [name]: [rules[deleted]!, ...rules.toSpliced(deleted, 1)] };
    expect(await repaired(expected)).toEqual([name]);
    const now = await iptables.chains('IPv4');
    expect(now.get(name)!.written).toEqual([rules[deleted]]);
  });

  it('puts back a flushed table nat, and leaves the others alone', async () => {
    await run('-t', 'nat', '-F');
    const written = await repaired();
    expect(written).toContain('nat KUBE-SERVICES');
    expect(written.filter((name) => !name.startsWith('nat '))).toEqual([]);
  });

  it('puts back a table nat without its chains', async () => {
    await run('-t', 'nat', '-F');
    await run('-t', 'nat', '-X');
    const written = await repaired();
    expect(written.filter((name) => !name.startsWith('nat '))).toEqual([]);
  });

  it('puts back the rules of one service chain', async () => {
    const chain = chainOf('SVC', 'default/web:http -> 10.244.1.11:8080');
    await run('-t', 'nat', '-F', chain);
    expect(await repaired()).toEqual([`nat ${chain}`]);
  });

  it('puts back one deleted service chain, and what led to it', async () => {
    const endpoint = chainOf('SEP', '--to-destination 10.244.1.12:8080');
    const service = chainOf('SVC', 'default/web:http -> 10.244.1.12:8080');
    const jump = before.get(`nat ${service}`)!.rules.findIndex((rule) => rule.endsWith(`-j ${endpoint}`)) + 1;
    await run('-t', 'nat', '-D', service, String(jump));
    await run('-t', 'nat', '-F', endpoint);
    await run('-t', 'nat', '-X', endpoint);
    expect(await repaired()).toEqual([`nat ${endpoint}`, `nat ${service}`].sort());
  });

  it.each(['mangle', 'nat', 'filter'])('puts back the canary of %s, and writes no rule', async (table) => {
    await run('-t', table, '-X', 'KUBE-PROXY-CANARY');
    expect(await repaired()).toEqual([]);
  });

  it("removes a stranger's rule from a service chain", async () => {
    const chain = chainOf('SVC', 'default/web:http -> 10.244.1.11:8080');
    await run('-t', 'nat', '-I', chain, '1', '-j', 'RETURN');
    expect(await repaired()).toEqual([`nat ${chain}`]);
  });

  it('writes nothing when somebody writes the same rules again', async () => {
    await iptables.mark('IPv4');
    await sleep(2_500);
    expect(touched(await iptables.chains('IPv4'))).toEqual([]);
  });
});
