import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { runToEnd } from '../program/run-to-end.js';
import { Host } from './host.js';

const namePattern = /^kpbed-(\d+)-/;
const farAddresses = ['10.9.9.9', '203.0.113.5', '192.168.7.7', '10.244.2.200'];

/** What the sysctls of the node, of its pod and of the outside hosts are set to: forward, and never rate-limit an ICMP error. */
const sysctls = [
  'for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$f; done',
  'echo 1 >/proc/sys/net/ipv4/ip_forward',
  'echo 1 >/proc/sys/net/ipv6/conf/all/forwarding',
  'for k in icmp_msgs_per_sec icmp_msgs_burst; do echo 1000000 >/proc/sys/net/ipv4/$k; done',
  'echo 0 >/proc/sys/net/ipv4/icmp_ratelimit',
  'echo 0 >/proc/sys/net/ipv6/icmp/ratelimit',
].join('; ');

/**
 * Four hosts in network namespaces, without a way out of them:
 *
 * - `node`, the node under test: pod network 10.244.1.0/24 on vethpod1, its own address 198.51.100.11 on node0,
 *   outside clients behind ext0, default route into `sink`;
 * - `pod`, a pod on it: 10.244.1.200;
 * - `ext`, outside clients: 198.18.0.50, 10.9.9.9, 203.0.113.5, 192.168.7.7, and a far pod 10.244.2.200;
 * - `sink`, which swallows everything.
 *
 * IPv6 likewise. Endpoints need not exist; `addPod` makes one that does. Several test beds can stand side by side.
 */
export class Testbed {
  readonly node: Host;
  readonly pod: Host;
  readonly ext: Host;
  readonly sink: Host;
  private readonly hosts: Host[];

  private constructor(private readonly prefix: string) {
    this.node = new Host(`${prefix}node1`);
    this.pod = new Host(`${prefix}pod1`);
    this.ext = new Host(`${prefix}ext`);
    this.sink = new Host(`${prefix}sink`);
    this.hosts = [this.node, this.pod, this.ext, this.sink];
  }

  /** Makes the hosts. Needs root and iproute2, and fails when it lacks them. */
  static async open(): Promise<Testbed> {
    await removeLeftOvers();
    const testbed = new Testbed(`kpbed-${process.pid}-${randomBytes(3).toString('hex')}-`);
    try {
      await testbed.build();
      return testbed;
    } catch (error) {
      await testbed.close();
      throw new Error(`cannot make network namespaces to test in (root and iproute2 are needed)`, {
        cause: error,
      });
    }
  }

  /**
   * Adds a host on the pod network of the node, wired to it by a veth pair of its own and reached by a host route,
   * as most network plug-ins do it.
   * An address of 10.244.1.0/24 is reached from `pod` through a service only: for `pod` that network is its own wire.
   * @param name appended to the test bed's prefix; at most 11 characters, as `veth` + name is its interface
   */
  async addPod(name: string, ipv4: string, ipv6?: string): Promise<Host> {
    const host = new Host(`${this.prefix}${name}`);
    this.hosts.push(host);
    const link = `veth${name}`;
    await batch([
      `netns add ${host.name}`,
      `link add ${link} netns ${this.node.name} type veth peer name eth0 netns ${host.name}`,
    ]);
    await Promise.all([
      batch(
        [
          `link set ${link} up`,
          // With arp_ignore (strictARP) only a link that has the gateway's address answers who asks for it; CNI's ptp adds it, too.
          `addr add 10.244.1.1/32 dev ${link}`,
          // A static neighbour of the test bed may stand for this address; the host route goes another way.
          `route add ${ipv4}/32 dev ${link} src 10.244.1.1`,
          // Solicitations are always answered so.
          ...(ipv6
            ? [
                `addr add fe80::1/64 dev ${link} nodad`,
                `route add ${ipv6}/128 dev ${link} src fd00:10:244:1::1`,
              ]
            : []),
        ],
        this.node,
      ),
      batch(
        [
          'link set lo up',
          'link set eth0 up',
          `addr add ${ipv4}/32 dev eth0`,
          'route add 10.244.1.1 dev eth0',
          'route add default via 10.244.1.1 dev eth0',
          ...(ipv6 ? [`addr add ${ipv6}/128 dev eth0 nodad`, 'route add default via fe80::1 dev eth0'] : []),
        ],
        host,
      ),
    ]);
    return host;
  }

  /** Forgets rules and connections of the node, so that the next test finds it as new. */
  async flushNode(): Promise<void> {
    await this.node.run(['nft', 'flush', 'ruleset']);
    await this.node.run(['conntrack', '-F']);
  }

  /** Removes everything that was made, whatever state it is in. */
  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.killAgent()));
    await Promise.all(this.hosts.map(({ name }) => removeNamespace(name)));
  }

  private async build(): Promise<void> {
    const { node, pod, ext, sink } = this;
    await batch([
      ...[node, pod, ext, sink].map(({ name }) => `netns add ${name}`),
      `link add vethpod1 netns ${node.name} type veth peer name eth0 netns ${pod.name}`,
      `link add ext0 netns ${node.name} type veth peer name eth0 netns ${ext.name}`,
      `link add sink0 netns ${node.name} type veth peer name eth0 netns ${sink.name}`,
    ]);
    const up = (...links: string[]): string[] => ['lo', ...links].map((link) => `link set ${link} up`);
    await Promise.all([
      batch(up('vethpod1', 'ext0', 'sink0'), node),
      ...[pod, ext, sink].map((host) => batch(up('eth0'), host)),
    ]);
    await Promise.all([
      batch(nodeAddresses(), node),
      batch(peerAddresses('10.244.1.200/24', '10.244.1.1', 'fd00:10:244:1::200/64', 'fd00:10:244:1::1'), pod),
      batch(
        [
          ...peerAddresses('198.18.0.50/24', '198.18.0.1', '2001:db8:18::50/64', '2001:db8:18::1'),
          ...farAddresses.map((address) => `addr add ${address}/32 dev eth0`),
        ],
        ext,
      ),
      batch(['addr add 169.254.77.2/30 dev eth0', 'addr add 2001:db8:77::2/64 dev eth0 nodad'], sink),
    ]);
    await Promise.all([node, pod, ext].map((host) => host.run(['sh', '-c', sysctls])));
  }
}

function nodeAddresses(): string[] {
  return [
    'addr add 10.244.1.1/24 dev vethpod1',
    'addr add 198.18.0.1/24 dev ext0',
    ...farAddresses.map((address) => `route add ${address} via 198.18.0.50`),
    'addr add 169.254.77.1/30 dev sink0',
    'route add default via 169.254.77.2',
    'addr add fd00:10:244:1::1/64 dev vethpod1 nodad',
    'addr add 2001:db8:18::1/64 dev ext0 nodad',
    'addr add 2001:db8:77::1/64 dev sink0 nodad',
    'route add default via 2001:db8:77::2',
    'link add node0 type veth peer name node0p',
    'link set node0 up',
    'link set node0p up',
    'addr add 198.51.100.11/24 dev node0',
    'addr add 2001:db8:2::11/64 dev node0 nodad',
    // No packet is to wait for a neighbour that never answers.
    ...Array.from({ length: 198 }, (_, i) => [
      `neigh replace 10.244.1.${i + 2} lladdr 02:00:00:00:00:01 dev vethpod1`,
      `neigh replace fd00:10:244:1::${(i + 2).toString(16)} lladdr 02:00:00:00:00:01 dev vethpod1`,
    ]).flat(),
  ];
}

function peerAddresses(ipv4: string, gateway4: string, ipv6: string, gateway6: string): string[] {
  return [
    `addr add ${ipv4} dev eth0`,
    `route add default via ${gateway4}`,
    `addr add ${ipv6} dev eth0 nodad`,
    `route add default via ${gateway6}`,
  ];
}

/** One `ip -batch` with all commands, in the host's namespace, or in the machine's own to make namespaces. */
async function batch(commands: readonly string[], host?: Host): Promise<void> {
  const where = host ? ['-n', host.name] : [];
  await runToEnd(['ip', ...where, '-batch', '-'], `${commands.join('\n')}\n`);
}

async function removeNamespace(name: string): Promise<void> {
  const none = () => '';
  const pids = await runToEnd(['ip', 'netns', 'pids', name]).catch(none);
  for (const pid of pids.split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself in the meantime.
    }
  }
  await runToEnd(['ip', 'netns', 'del', name]).catch(none);
}

/** A test run that was killed leaves its namespaces; the next one removes those whose process is gone. */
async function removeLeftOvers(): Promise<void> {
  const names = await readdir('/run/netns').catch(() => []);
  const abandoned = names.filter((name) => {
    const pid = namePattern.exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  await Promise.all(abandoned.map(removeNamespace));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
