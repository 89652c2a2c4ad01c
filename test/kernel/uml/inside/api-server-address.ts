import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { ApiRelay } from '../../../support/program/api-relay.js';
import { Command } from '../../../support/program/command.js';
import { DriverBundle, Namespace } from '../../../support/program/in-namespace.js';
import { ServedNode } from '../../../support/program/served-node.js';
import {
  serviceObjects,
  testNode,
  testServiceCidr,
  type TestService,
} from '../../../support/testbed/cluster-objects.js';
import { Host } from '../../../support/testbed/host.js';
import { PATIENCE } from './ipvs-node.js';
import { tool } from './tool.js';

/** Of another machine. */
const SERVER = { address: '192.0.2.1', port: 6443 };
const NODE = '198.51.100.11';
/** Bound, as nothing speaks against it. */
const EXTERNAL = '192.0.2.7';

const service = (name: string, number: number, parts: Partial<TestService>): TestService => ({
  name,
  clusterIP: `172.30.0.${number}`,
  ports: [{ name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 }],
  endpoints: ['10.244.9.9'],
  ...parts,
});
const dns = [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 53 }] as const;
const THIEVES = [
  service('external-thief', 2, { externalIPs: [SERVER.address] }),
  service('balancer-thief', 3, { loadBalancerIPs: [SERVER.address], ports: dns }),
];

/** In other modes a Service gets single ports of an address: `test/kernel/owned-addresses.test.ts`. */
describe('in IPVS mode the address of the API server', () => {
  let server: ServedNode;
  let namespace: Namespace;
  let node: Host;
  let relay: ApiRelay;
  let proxy: Command;

  before(async () => {
    server = await ServedNode.open('server', DriverBundle.at(process.env.STAND_IN!));
    namespace = await Namespace.open('node');
    node = new Host(namespace.name);
    const link = ['link', 'add', 'up0', 'netns', server.namespace.name, 'type', 'veth'];
    await tool('ip', ...link, 'peer', 'name', 'up0', 'netns', namespace.name);
    for (const [place, address, other] of [
      [server.namespace, SERVER.address, NODE],
      [namespace, NODE, SERVER.address],
    ] as const) {
      await place.run(['ip', 'addr', 'add', `${address}/32`, 'dev', 'up0']);
      await place.run(['ip', 'link', 'set', 'up0', 'up']);
      await place.run(['ip', 'route', 'add', other, 'dev', 'up0']);
    }
    const kubeconfig = await server.api.ask('kubeconfig');
    relay = await ApiRelay.start(server.namespace.name, kubeconfig, SERVER);
    const others = [service('other', 1, { externalIPs: [EXTERNAL] }), ...THIEVES];
    const objects = [testNode, testServiceCidr, ...others.flatMap(serviceObjects)];
    await server.api.ask('put', objects as never);
    const flags = ['--proxy-mode', 'ipvs', '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
    proxy = await Command.start(node, [...flags, '--kubeconfig', kubeconfig]);
  });
  after(async () => {
    if (proxy?.running) await proxy.stop('SIGKILL');
    await relay?.stop();
    await node?.killAgent();
    await namespace?.close();
    await server?.close();
  });

  const bound = (): Promise<string> => namespace.run(['ip', '-br', 'addr', 'show', 'kube-ipvs0']);
  const servers = (): Promise<string> => namespace.run(['ipvsadm', '-S', '-n']);
  const served = (address: string): Promise<void> =>
    proxy.until(`${address} is served`, async () => (await servers()).includes(`${address}:80`), PATIENCE);

  it('is bound for no Service, so that the node reaches the API server over new connections', async () => {
    await served(EXTERNAL);
    await proxy.until('its address is bound', async () => (await bound()).includes(EXTERNAL), PATIENCE);
    expect(await bound()).not.toContain(SERVER.address);
    expect(await servers()).not.toContain(SERVER.address);
    await server.api.ask('disconnectWatches');
    await server.api.ask('put', serviceObjects(service('later', 9, {})) as never);
    await served('172.30.0.9');
    expect(await bound()).not.toContain(SERVER.address);
  });

  it('is reported as reserved to the Services that list it', async () => {
    for (const frontend of ['192.0.2.1:80/TCP', '192.0.2.1:53/UDP'])
      await proxy.until(
        `${frontend} is reported`,
        () => proxy.log.includes(`${frontend} belongs to the API server that this proxy uses`),
        PATIENCE,
      );
    const isPosted = async (): Promise<boolean> => {
      const events = await server.api.ask('requests');
      return events.filter(({ verb, path }) => verb === 'create' && path.includes('/events')).length >= 2;
    };
    await proxy.until('each has its event', isPosted, PATIENCE);
  });
});
