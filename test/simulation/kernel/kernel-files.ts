import { ADDRESSES } from '../world/settings.js';
import type { World } from '../world/world.js';

const SYSCTLS: Readonly<Record<string, string>> = {
  'net/netfilter/nf_conntrack_max': '262144',
  'net/netfilter/nf_conntrack_acct': '0',
  'net/netfilter/nf_conntrack_tcp_timeout_established': '432000',
  'net/netfilter/nf_conntrack_tcp_timeout_close_wait': '60',
  'net/netfilter/nf_conntrack_tcp_be_liberal': '0',
  'net/netfilter/nf_conntrack_udp_timeout': '30',
  'net/netfilter/nf_conntrack_udp_timeout_stream': '120',
  'net/ipv4/conf/all/route_localnet': '0',
  'net/ipv4/conf/lo/route_localnet': '0',
  'net/ipv4/conf/eth0/route_localnet': '0',
  'net/ipv4/vs/conntrack': '0',
  'net/ipv4/vs/conn_reuse_mode': '0',
  'net/ipv4/vs/expire_nodest_conn': '0',
  'net/ipv4/vs/expire_quiescent_template': '0',
  'net/ipv4/ip_forward': '1',
  'net/ipv4/conf/all/arp_ignore': '0',
  'net/ipv4/conf/all/arp_announce': '0',
  'net/ipv6/conf/all/disable_ipv6': '0',
};

/** The files that the kernel makes: sysctls and what it tells of itself. */
export function mountKernelFiles({ files, settings }: World): void {
  for (const [name, value] of Object.entries(SYSCTLS)) files.put(`/proc/sys/${name}`, `${value}\n`);
  files.put('/sys/module/nf_conntrack/parameters/hashsize', '65536\n');
  files.put('/sys/devices/system/cpu/cpu0/online', '1\n');
  files.put('/sys/devices/system/cpu/cpu1/online', '1\n');
  files.put('/proc/self/oom_score_adj', '0\n');
  files.put(
    '/proc/self/limits',
    'Max open files            1048576              1048576              files\n',
  );
  files.put('/proc/self/task/1', '');
  files.put('/proc/self/mountinfo', '');
  files.put('/run/xtables.lock', '');
  if (settings.families.includes('IPv6')) files.put('/proc/net/if_inet6', `${ADDRESSES.IPv6.node}\n`);
}
