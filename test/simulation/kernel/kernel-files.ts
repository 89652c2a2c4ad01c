import { ADDRESSES } from '../world/settings.js';
import { systemError } from '../world/files.js';
import type { World } from '../world/world.js';
import type { Connections } from './conntrack/connections.js';

const SYSCTLS: Readonly<Record<string, string>> = {
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

/** The settings of connection tracking, which hold as soon as they are written. */
export function mountConntrackFiles({ files }: World, { sysctls }: Connections): void {
  for (const name of sysctls.keys())
    files.mount(`/proc/sys/net/netfilter/${name}`, {
      read: () => `${sysctls.get(name)}\n`,
      write: (data) => {
        const value = Number(data.toString().trim());
        if (!Number.isInteger(value)) throw systemError('EINVAL', 'write', name);
        sysctls.set(name, value);
      },
    });
}
