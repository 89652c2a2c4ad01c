import { readFileSync } from 'node:fs';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/**
 * The tables of ip_tables that were used since the network namespace of this process is there, so that to read them makes
 * none; undefined when that is unknown.
 */
export function legacyTables(family: IpFamily, folder = '/proc/net'): readonly string[] | undefined {
  try {
    const names = readFileSync(`${folder}/${family === 'IPv4' ? 'ip' : 'ip6'}_tables_names`, 'utf8');
    return names.split('\n').filter((name) => name !== '');
  } catch (error) {
    // A kernel without ip_tables has no such file.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
  }
}
