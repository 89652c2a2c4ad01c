/** The node of a story, and which modes its kernel has. */

import type { Mode } from '../model/objects.js';
import { SctpHost } from '../support/testbed/sctp.js';
import { Testbed } from '../support/testbed/testbed.js';

/** Modes of the proxy, those with iptables in both variants. */
export const FUZZ_MODES = ['nftables', 'iptables', 'iptables-legacy', 'ipvs', 'userspace'] as const;
export type FuzzMode = (typeof FUZZ_MODES)[number];

/** Which tools of iptables a node uses: the rules of the kubelet are theirs. */
export type IptablesVariant = 'nft' | 'legacy';

export function proxyMode(mode: FuzzMode): Mode {
  return mode === 'iptables-legacy' ? 'iptables' : mode;
}

/** The ports of endpoints. */
const ENDPOINT_PORTS = [8080, 8081, 8082, 8180, 8181, 8182];

/** The pod that is a client and an endpoint answers as little as the endpoints that do not exist. */
const SILENT = `table inet silence {
  chain input {
    type filter hook input priority 0
    meta l4proto { tcp, udp } th dport 8000-8999 drop
  }
}`;
const SILENT_TO_DATAGRAMS = SILENT.replace('{ tcp, udp }', 'udp');

/** By the chain that a kubelet leaves, programs choose a variant. */
const asKubeletLeavesIt = (variant: IptablesVariant): string =>
  ['iptables', 'ip6tables']
    .map((tool) => `${tool}-${variant} -w 60 -t mangle -N KUBE-IPTABLES-HINT`)
    .join('\n');

/** A new test bed. @param hasServers all endpoints answer over TCP, as userspace mode needs it */
export async function openNode(variant: IptablesVariant, hasServers: boolean): Promise<Testbed> {
  const testbed = await Testbed.open();
  try {
    await testbed.node.run(['sh', '-e'], asKubeletLeavesIt(variant));
    // Flows are compared long after their only packet.
    const timeouts = ['udp_timeout', 'sctp_timeout_cookie_wait', 'sctp_timeout_closed'];
    await testbed.node.run([
      'sysctl',
      '-qw',
      ...timeouts.map((name) => `net.netfilter.nf_conntrack_${name}=600`),
    ]);
    for (const host of [testbed.pod, testbed.ext]) {
      // Other connections do not get the ports of SCTP.
      await host.run(['sysctl', '-qw', 'net.ipv4.ip_local_reserved_ports=40000-40031']);
      await SctpHost.start(host);
    }
    await testbed.pod.run(['nft', '-f', '-'], hasServers ? SILENT_TO_DATAGRAMS : SILENT);
    if (hasServers) await serveEndpoints(testbed);
    return testbed;
  } catch (error) {
    await testbed.close();
    throw error;
  }
}

/** Endpoints on the node are all in the pod, to whose address the neighbors of the node lead; those of other nodes are where its default route leads. */
async function serveEndpoints({ pod, sink }: Testbed): Promise<void> {
  const own = ['2/31', '4/30', '8/29'].map((hosts) => `10.244.1.${hosts}`);
  const own6 = ['2/127', '4/126', '8/125'].map((hosts) => `fd00:10:244:1::${hosts}`);
  const commands = [
    'link set eth0 address 02:00:00:00:00:01',
    ...[...own, ...own6].map((network) => `route add local ${network} dev lo`),
  ];
  await pod.run(['ip', '-batch', '-'], `${commands.join('\n')}\n`);
  await sink.run(['nft', '-f', '-'], SILENT_TO_DATAGRAMS);
  const far = ['2.0/23', '4.0/22', '8.0/21', '16.0/20', '32.0/19', '64.0/18', '128.0/17'].map(
    (one) => `10.244.${one}`,
  );
  const far6 = [
    '2::/63',
    '4::/62',
    '8::/61',
    '10::/60',
    '20::/59',
    '40::/58',
    '80::/57',
    '100::/56',
    '200::/55',
  ].map((one) => `fd00:10:244:${one}`);
  const routes = [
    'route add default via 169.254.77.1',
    'route add default via 2001:db8:77::1',
    ...[...far, ...far6].map((network) => `route add local ${network} dev lo`),
  ];
  await sink.run(['ip', '-batch', '-'], `${routes.join('\n')}\n`);
  for (const host of [pod, sink]) await host.ask('answerEverywhere', { ports: ENDPOINT_PORTS });
}

const iptablesTrial = (variant: IptablesVariant): string =>
  ['iptables', 'ip6tables']
    .map(
      (tool) =>
        `${tool}-${variant} -t nat -A POSTROUTING -m statistic --mode random --probability 0.5 -m mark --mark 1 -j MASQUERADE
         ${tool}-${variant} -t filter -A INPUT -m recent --name trial --rcheck -j REJECT`,
    )
    .join('\n');

/** What a kernel must take that has the mode. The map `others` needs Linux 5.13, as the program's nftables mode does. */
const TRIALS: Readonly<Record<FuzzMode, string>> = {
  nftables: `nft -f - <<END
    table ip trial {
      map ports { type ipv4_addr . inet_proto . inet_service : verdict; }
      map others { type ipv4_addr : verdict; elements = { * : accept }; }
      chain one { ip protocol tcp dnat to 192.0.2.1:80; }
      chain two { ip protocol tcp dnat to 192.0.2.2:80; }
      chain nat {
        type nat hook prerouting priority 0
        ip daddr . meta l4proto . th dport vmap @ports
        meta l4proto { tcp, udp } numgen random mod 2 vmap { 0 : goto one, 1 : goto two }
      }
    }
END`,
  iptables: iptablesTrial('nft'),
  'iptables-legacy': iptablesTrial('legacy'),
  ipvs: `ipvsadm -A -t 192.0.2.1:80 -s rr
    ipset create trial hash:ip,port
    iptables-nft -A INPUT -m set --match-set trial dst,dst -m ipvs --vaddr 192.0.2.1 -j DROP`,
  userspace: 'iptables-nft -t nat -A PREROUTING -m addrtype --dst-type LOCAL -p tcp -j REDIRECT --to-ports 1',
};

/** The modes that the kernel of this machine has, as it takes what they need, or does not. */
export async function supportedModes(): Promise<readonly FuzzMode[]> {
  const testbed = await Testbed.open();
  try {
    const supported: FuzzMode[] = [];
    for (const mode of FUZZ_MODES) {
      const works = testbed.node.run(['sh', '-e'], TRIALS[mode]).then(
        () => true,
        () => false,
      );
      if (await works) supported.push(mode);
    }
    return supported;
  } finally {
    await testbed.close();
  }
}
