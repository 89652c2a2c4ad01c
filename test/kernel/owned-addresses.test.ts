import { bundleStandIn, ServedNode, type StandInBundle } from '../support/program/served-node.js';
import { ApiRelay } from '../support/program/api-relay.js';
import { Command } from '../support/program/command.js';
import {
  serviceObjects,
  testNode,
  testServiceCidr,
  type TestService,
} from '../support/testbed/cluster-objects.js';

/** Where the proxy reaches the API server, and this node's own address. */
const SERVER = '192.0.2.1';
const SERVER_PORT = 6443;
const NODE = '198.51.100.11';
/** Nothing is there: who is led there gets no answer. */
const NOWHERE = '10.244.9.9';

const service = (name: string, number: number, parts: Partial<TestService>, port = 80): TestService => ({
  name,
  clusterIP: `172.30.0.${number}`,
  ports: [{ name: 'tcp', protocol: 'TCP', port, targetPort: 8080 }],
  endpoints: [NOWHERE],
  ...parts,
});

const VICTIM = service('victim', 1, {});
/** They sort before what they are after. */
const THIEVES = [
  service('a-server-thief', 2, { externalIPs: [SERVER] }, SERVER_PORT),
  service('a-health-thief', 3, { loadBalancerIPs: [NODE] }, 10256),
  service('a-cluster-ip-thief', 4, { externalIPs: [VICTIM.clusterIP] }),
  service('a-loopback-thief', 5, { externalIPs: ['127.0.0.1'] }, 10249),
];

let bundle: StandInBundle;
let served: ServedNode;
let relay: ApiRelay;
let proxy: Command | undefined;

beforeAll(async () => {
  bundle = await bundleStandIn();
  served = await ServedNode.open('owned', bundle);
  for (const address of [SERVER, NODE])
    await served.namespace.run(['ip', 'addr', 'add', `${address}/32`, 'dev', 'lo']);
  // So that packets that are led there leave, and get lost.
  await served.namespace.run(['ip', 'route', 'add', 'blackhole', '10.244.0.0/16']);
});
afterAll(async () => {
  await served.close();
  await bundle.remove();
});
afterEach(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
  await relay.stop();
});

it.each(['nftables', 'iptables'])(
  'in %s mode no Service takes the API server, the health port or the cluster IP of another',
  async (mode) => {
    const { node, api } = served;
    const kubeconfig = await served.renew();
    relay = await ApiRelay.start(served.namespace.name, kubeconfig, { address: SERVER, port: SERVER_PORT });
    const put = (services: readonly TestService[]): Promise<void> =>
      api.ask('put', services.flatMap(serviceObjects) as never);
    await api.ask('put', [testNode, testServiceCidr] as never);
    await put([VICTIM, ...THIEVES]);
    const flags = ['--proxy-mode', mode, '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
    proxy = await Command.start(node, [...flags, '--kubeconfig', kubeconfig]);
    const output = async (...words: string[]): Promise<string> => (await Command.run(node, words)).stdout;
    const isListed = (name: string) => async () => (await output('services')).includes(`${name} `);
    await proxy.until('the Services are programmed', isListed('victim'));

    // Watches and the next list take new connections, which are translated if anything is.
    await api.ask('disconnectWatches');
    await put([service('later', 9, {})]);
    await proxy.until('a later Service comes over a new connection', isListed('later'));
    const isProgrammed = async () => !(await output('status')).includes('default/later');
    await proxy.until('the later Service is programmed', isProgrammed);
    expect((await node.get(`http://${NODE}:10256/healthz`)).status).toBe(200);
    expect((await node.get('http://127.0.0.1:10249/healthz')).status).toBe(200);

    const status = await Command.run(node, ['status']);
    expect(status.exitCode).toBe(0);
    expect(status.stdout).toMatch(
      /^node1: ok\n(?: {2}warning: .*external IPs.*\n)? {2}warning: 1 object has parts that are ignored\n/m,
    );
    expect(status.stdout).toMatch(
      /^ {2}Services: 2 ok, 4 warning, 0 error\n {4}warning: default\/a-cluster-ip-thief: .* belongs to default\/victim:tcp$/m,
    );
    expect(status.stdout).toContain('  warning: 2 Services have external IPs, which are deprecated: ');
    expect(await output('explain', 'a-server-thief')).toMatch(
      /192\.0\.2\.1:6443 .*the API server that this proxy uses/,
    );
    expect(await output('explain', 'a-health-thief')).toMatch(
      /198\.51\.100\.11:10256 .*the health checks of this proxy/,
    );
    expect(await output('explain', 'a-cluster-ip-thief')).toMatch(
      /external-ip 172\.30\.0\.1:80 .*default\/victim:tcp/,
    );
    expect(await output('explain', 'a-loopback-thief')).toContain('"127.0.0.1" is loopback; ignored');
    const answers = await output('explain', VICTIM.clusterIP);
    expect(answers).toContain('default/victim');
    const isPosted = async (): Promise<boolean> => {
      const events = await api.ask('requests');
      return events.filter(({ verb, path }) => verb === 'create' && path.includes('/events')).length >= 4;
    };
    await proxy.until('each of them has its event', isPosted);
  },
);
