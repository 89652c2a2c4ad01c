import { readdirSync } from 'node:fs';
import { readSysctl } from './sysctl.js';

const INTERFACES = 'net/ipv4/conf';

/** Whether packets for 127.0.0.0/8 may come in from outside, through any interface. What cannot be read counts as yes. */
export function routesLocalnet(root = '/proc/sys'): boolean {
  try {
    const names = readdirSync(`${root}/${INTERFACES}`);
    return names.some((name) => readSysctl(`${INTERFACES}/${name}/route_localnet`, root) !== '0');
  } catch {
    return true;
  }
}
