import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { sampleOf } from '../support/nightly.js';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig, type TestService } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend, type Destination } from '../support/testbed/traffic.js';

/* What other programs of a node do with addresses: NodeLocal DNS puts the cluster IP of the DNS on a dummy interface, kube-vip
 * an address of a load balancer on the node's; some come and go. The answers were recorded of kube-proxy 1.36 in the same test bed. */

const LOCAL_DNS = '169.254.20.10';
const LOAD_BALANCER = '198.51.100.77';
const ENDPOINT = '10.244.1.11';

const dns: TestService = {
  name: 'kube-dns',
  clusterIP: '172.30.0.10',
  ports: [
    { name: 'dns', protocol: 'UDP', port: 53, targetPort: 8080 },
    { name: 'dns-tcp', protocol: 'TCP', port: 53, targetPort: 8080 },
    { name: 'metrics', protocol: 'TCP', port: 9153, targetPort: 8080 },
  ],
  endpoints: [ENDPOINT],
};
const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.40',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30040 }],
  endpoints: [ENDPOINT],
};
const balanced: TestService = { ...web, loadBalancerIPs: [LOAD_BALANCER] };
const withExternalIP: TestService = { ...web, externalIPs: [LOAD_BALANCER] };

/** The rules of node-local-dns 1.23 for one address, as parameters of iptables. */
const cacheRules = (address: string): string[] =>
  ['tcp', 'udp'].flatMap((protocol) => [
    `-t raw -A PREROUTING -p ${protocol} -d ${address} --dport 53 -j NOTRACK`,
    `-t raw -A OUTPUT -p ${protocol} -d ${address} --dport 53 -j NOTRACK`,
    `-t raw -A OUTPUT -p ${protocol} -s ${address} --sport 53 -j NOTRACK`,
    `-t filter -A INPUT -p ${protocol} -d ${address} --dport 53 -j ACCEPT`,
    `-t filter -A OUTPUT -p ${protocol} -s ${address} --sport 53 -j ACCEPT`,
  ]);

/** What became of one request: who answered, or why nobody did. */
type Answers = Readonly<Record<string, string>>;
interface Recorded {
  readonly [mode: string]: Readonly<Record<string, Answers>>;
}
const recorded = JSON.parse(
  await readFile(new URL('../conformance/added-addresses.json', import.meta.url), 'utf8'),
) as Recorded;

const configuration = (more: object): string => stringify({ ...(parse(testConfig) as object), ...more });
const ON_ALL = { nodePortAddresses: ['0.0.0.0/0'] };
const ON_PRIMARY = { nodePortAddresses: ['primary'] };

describe.each(sampleOf<ModeName>(['nftables', 'iptables']))('in mode %s', (mode) => {
  let testbed: Testbed;
  let proxy: ProxyProcess | undefined;

  beforeAll(async () => {
    testbed = await Testbed.open();
    await Backend.start(testbed, 'endpoint', ENDPOINT);
    await testbed.node.ask('serve', { name: 'host', port: 9999 });
  });
  afterEach(async () => {
    await proxy?.remove();
    proxy = undefined;
  });
  afterAll(() => testbed.close());

  const start = async (config: object, ...services: readonly TestService[]): Promise<void> => {
    proxy = await ProxyProcess.start({
      host: testbed.node,
      mode,
      config: configuration(config),
      objects: clusterObjects(services),
    });
  };
  const change = (...services: readonly TestService[]): Promise<void> =>
    proxy!.change(clusterObjects(services));
  const ip = (command: string): Promise<string> => testbed.node.run(['ip', ...command.split(' ')]);
  const iptables = async (rules: readonly string[]): Promise<void> => {
    for (const rule of rules) await testbed.node.run(['iptables', '-w', ...rule.split(' ')]);
  };

  async function expectAsRecorded(situation: string, asked: Readonly<Record<string, [Host, Destination]>>) {
    const answers = Object.fromEntries(
      await Promise.all(
        Object.entries(asked).map(async ([label, [client, destination]]) => [
          label,
          await askOnce(client, destination).catch(reasonOf),
        ]),
      ),
    ) as Answers;
    expect({ [situation]: answers }).toEqual({ [situation]: recorded[mode]?.[situation] });
  }

  const dnsRequests = (): Readonly<Record<string, [Host, Destination]>> =>
    Object.fromEntries(
      (['pod', 'node'] as const).flatMap((from) =>
        [dns.clusterIP, LOCAL_DNS].flatMap((dst) =>
          (
            [
              ['udp', 53],
              ['http', 53],
              ['http', 9153],
            ] as const
          ).map(([what, port]) => [
            `${what} ${dst}:${port} from ${from}`,
            [testbed[from], { what, dst, port }],
          ]),
        ),
      ),
    );

  it('NodeLocal DNS answers pods and the node at both addresses, and without it the endpoints do', async () => {
    await start({}, dns);
    await expectAsRecorded('before NodeLocal DNS', dnsRequests());
    // As good as a dummy interface, which this kernel may lack.
    await ip('link add nodelocaldns type veth peer name nodelocalpeer');
    const rules = [LOCAL_DNS, dns.clusterIP].flatMap(cacheRules);
    for (const address of [LOCAL_DNS, dns.clusterIP]) {
      await ip(`addr add ${address}/32 dev nodelocaldns`);
      await testbed.node.ask('serve', { name: 'cache', port: 53, address });
    }
    await iptables(rules);
    await expectAsRecorded('with NodeLocal DNS', dnsRequests());
    await change(dns, web);
    await expectAsRecorded('with NodeLocal DNS', dnsRequests());
    await iptables(rules.map((rule) => rule.replace(' -A ', ' -D ')));
    await ip('link delete nodelocaldns');
    await expectAsRecorded('before NodeLocal DNS', dnsRequests());
  });

  const webRequests = (): Readonly<Record<string, [Host, Destination]>> =>
    Object.fromEntries(
      (['pod', 'node', 'ext'] as const).flatMap((from) =>
        [80, 9999, 30040].map((port) => [
          `${LOAD_BALANCER}:${port} from ${from}`,
          [testbed[from], { what: 'http', dst: LOAD_BALANCER, port }],
        ]),
      ),
    );

  it.each([
    ['by default', {}],
    ['with node ports on all addresses', ON_ALL],
    ['with node ports on primary addresses', ON_PRIMARY],
  ])('an address of a load balancer is also one of the node, %s', async (how, config) => {
    await ip(`addr add ${LOAD_BALANCER}/32 dev node0`);
    await start(config, balanced);
    await expectAsRecorded(`the node has the address, ${how}`, webRequests());
    await ip(`addr delete ${LOAD_BALANCER}/32 dev node0`);
  });

  it('an address comes to a Service and to the node, and goes, while the proxy runs', async () => {
    await start(ON_ALL, web);
    const situations = async (whose: string): Promise<void> => {
      await expectAsRecorded(`${whose}, not on the node`, webRequests());
      await ip(`addr add ${LOAD_BALANCER}/32 dev node0`);
      await expectAsRecorded(`${whose}, on the node`, webRequests());
      await ip(`addr delete ${LOAD_BALANCER}/32 dev node0`);
    };
    await change(balanced);
    await situations('of a load balancer');
    await change(withExternalIP);
    await situations('an external IP');
    await change(web);
    await situations('of no Service');
  });
});

function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (message.includes('ECONNREFUSED')) return 'refused';
  // The neighbour that is sought in vain is the network's answer, which comes early or late.
  if (/no answer within|EHOSTUNREACH/.test(message)) return 'no answer';
  return message;
}
