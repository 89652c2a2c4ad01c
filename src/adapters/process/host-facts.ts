/** Facts about this machine: CPUs, IP families and interface addresses. */

import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { availableParallelism, networkInterfaces } from 'node:os';
import type { LocalAddresses } from '../../application/ports/node/network.js';
import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * The number of CPUs of the machine that are online, even if this process may not use all. Without /sys: those it may use.
 */
export function cpuCount(sys = '/sys'): number {
  const folder = `${sys}/devices/system/cpu`;
  try {
    const cpus = readdirSync(folder).filter((name) => /^cpu\d+$/.test(name));
    return cpus.filter((name) => isOnline(`${folder}/${name}`)).length || availableParallelism();
  } catch {
    return availableParallelism();
  }
}

/** The first CPU has no file `online`, because it cannot be switched off. */
function isOnline(folder: string): boolean {
  try {
    return readFileSync(`${folder}/online`, 'utf8').trim() !== '0';
  } catch {
    return true;
  }
}

/** The families that this kernel supports: IPv6 only if it is compiled in and not disabled (docs/internals/spec/server.md §5.2). */
export function supportedFamilies(proc = '/proc'): readonly IpFamily[] {
  const disabled = `${proc}/sys/net/ipv6/conf/all/disable_ipv6`;
  const hasIPv6 =
    existsSync(`${proc}/net/if_inet6`) &&
    !(existsSync(disabled) && readFileSync(disabled, 'utf8').trim() === '1');
  return hasIPv6 ? ['IPv4', 'IPv6'] : ['IPv4'];
}

/** The addresses of the interfaces of this network namespace that are up and have a carrier. */
export class InterfaceAddresses implements LocalAddresses {
  list(): readonly string[] {
    const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const texts = interfaces.flatMap(({ address }) => parseAddress(address.replace(/%.*$/, ''))?.text ?? []);
    return [...new Set(texts)];
  }
}
