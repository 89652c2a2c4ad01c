import { parse, stringify } from 'yaml';
import { ProxyProcess } from '../../../support/program/proxy-process.js';
import { clusterObjects, testConfig, type TestService } from '../../../support/testbed/cluster-objects.js';
import { NodeIptables } from '../../../support/testbed/iptables-node.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { Backend } from '../../../support/testbed/traffic.js';
import { emptyNode } from './recorded-kernel.js';
import { linesOf, tool } from './tool.js';

const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;
/** It says again what it hears. */
const echo = { name: 'echo', protocol: 'TCP', port: 81, targetPort: 8081 } as const;
const udp = { name: 'udp', protocol: 'UDP', port: 81, targetPort: 8080 } as const;

/** This kernel is slow, and shares the machine with others. */
export const PATIENT = { timeoutMs: 20_000 } as const;
/** Milliseconds: when it takes the proxy seconds to compare, it does so every other minute. */
export const PATIENCE = 180_000;

export const web = { ...PATIENT, what: 'http', dst: '172.30.20.11', port: http.port } as const;
export const webEcho = { dst: web.dst, port: echo.port } as const;
export const webUdp = { ...PATIENT, what: 'udp', dst: web.dst, port: udp.port } as const;
export const webNodePort = {
  ...PATIENT,
  what: 'http',
  dst: '198.51.100.11',
  port: 30191,
  src: '198.18.0.50',
} as const;
export const sticky = { ...PATIENT, what: 'http', dst: '172.30.20.12', port: http.port } as const;
/** How many virtual servers these make. */
export const VIRTUAL_SERVERS = 5;

/** Virtual servers of others: the proxy is told to leave the first one alone. */
export const FOREIGN = ['-A -t 203.0.113.9:21 -s wrr', '-a -t 203.0.113.9:21 -r 192.0.2.1:21 -m -w 1'];

const config = stringify({
  ...(parse(testConfig) as object),
  nodePortAddresses: ['198.51.100.0/24'],
  ipvs: {
    ...{ syncPeriod: '5s', minSyncPeriod: '0s' },
    ...{ excludeCIDRs: ['203.0.113.0/24'], tcpFinTimeout: '1s', strictARP: true },
  },
});

/** A node on which the real program runs in mode ipvs, with clients, and pods `b1` and `b2` that serve `web` and `sticky`. */
export class IpvsNode {
  declare testbed: Testbed;
  declare backends: readonly [Backend, Backend];
  declare proxy: ProxyProcess;

  /** Returns when everything is programmed. */
  async open(): Promise<void> {
    await tool('modprobe', '-a', 'nf_conntrack_netlink', 'ip_vs');
    this.testbed = await Testbed.open();
    const started = (name: string, address: string) => Backend.start(this.testbed, name, address);
    this.backends = [await started('b1', '10.244.1.11'), await started('b2', '10.244.1.12')];
    for (const { host } of this.backends) await host.ask('serveTransfers', { port: echo.targetPort });
    await emptyNode(this.testbed.node);
    await this.iptables.reset();
    for (const address of ['203.0.113.9:21', '192.0.2.9:21'])
      await this.run('ipvsadm', '-A', '-t', address, '-s', 'wrr');
    await this.run('ipvsadm', '-a', '-t', '203.0.113.9:21', '-r', '192.0.2.1:21', '-m');
    this.proxy = await ProxyProcess.start({
      ...({ host: this.testbed.node, mode: 'ipvs', slow: true, config } as const),
      objects: this.objects(),
    });
  }

  async close(): Promise<void> {
    await this.proxy?.remove();
    await this.testbed.close();
  }

  get iptables(): NodeIptables {
    return new NodeIptables(this.testbed.node, 'legacy');
  }

  /** The cluster with these endpoints of its two Services. */
  objects(endpoints: readonly Backend[] = this.backends): string {
    const common = { endpoints: endpoints.map(({ address }) => address) };
    const services: readonly TestService[] = [
      {
        ...{ ...common, name: 'web', clusterIP: web.dst },
        ports: [{ ...http, nodePort: webNodePort.port }, echo, udp],
      },
      { ...common, name: 'sticky', clusterIP: sticky.dst, ports: [http], affinitySeconds: 600 },
    ];
    return clusterObjects(services);
  }

  run(...command: readonly string[]): Promise<string> {
    return this.testbed.node.run(command);
  }

  /** All virtual servers and real servers, as ipvsadm saves them. */
  async servers(): Promise<readonly string[]> {
    return linesOf(await this.run('ipvsadm', '-S', '-n'));
  }
}
