import { readFileSync, existsSync } from 'node:fs';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** The families that this kernel supports: IPv6 only if it is compiled in and not disabled (docs/spec/server.md §5.2). */
export function supportedFamilies(proc = '/proc'): readonly IpFamily[] {
  const disabled = `${proc}/sys/net/ipv6/conf/all/disable_ipv6`;
  const hasIPv6 =
    existsSync(`${proc}/net/if_inet6`) &&
    !(existsSync(disabled) && readFileSync(disabled, 'utf8').trim() === '1');
  return hasIPv6 ? ['IPv4', 'IPv6'] : ['IPv4'];
}
