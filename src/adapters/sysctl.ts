/** Settings of the kernel: sysctls, and the size of the table of tracked connections. */

import { closeSync, constants, openSync, readFileSync, statSync, writeSync, readdirSync } from 'node:fs';
import { errorMessage } from '../application/error-message.js';
import type { Logger } from '../application/ports/logger.js';
import { NamedError } from '../domain/model/named-error.js';
import {
  MAXIMUM_SYSCTL,
  conntrackMaximum,
  conntrackSysctls,
  type ConntrackSettings,
} from '../domain/node/conntrack-sysctls.js';

/** A sysctl cannot be set; the message has its name, the value, the reason, and what to do. */
export class SysctlError extends NamedError {
  constructor(name: string, value: string, cause: unknown) {
    super(
      `cannot set the sysctl ${name} to ${value}: ${errorMessage(cause)}; set it on the node ` +
        `(sysctl -w ${name.replaceAll('/', '.')}=${value}), or run this with --init-only once in a privileged container`,
      { cause },
    );
  }
}

/**
 * Sets a sysctl, named by its path below /proc/sys, unless it has the value already. An unreadable one counts as different.
 * Idempotent.
 * @returns whether it was written
 * @throws SysctlError
 */
export function ensureSysctl(name: string, value: string, root = '/proc/sys'): boolean {
  const path = `${root}/${name}`;
  if (readSysctl(name, root) === value) return false;
  try {
    overwrite(path, value);
    return true;
  } catch (error) {
    throw new SysctlError(name, value, error);
  }
}

/** The current value; undefined if it is unreadable. */
export function readSysctl(name: string, root = '/proc/sys'): string | undefined {
  try {
    return readFileSync(`${root}/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Whether the kernel makes the sysctl read-only, as it does outside the initial network namespace. */
function isReadOnly(name: string, root = '/proc/sys'): boolean {
  try {
    return (statSync(`${root}/${name}`).mode & 0o222) === 0;
  } catch {
    return false;
  }
}

/** Writes a file of the kernel; it must exist. */
function overwrite(path: string, value: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(file, value);
  } finally {
    closeSync(file);
  }
}

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

interface KernelFolders {
  readonly proc: string;
  readonly sys: string;
}

/** Connection tracking cannot be set up as configured. Retrying does not help. */
export class ConntrackSettingsError extends NamedError {
  constructor(cause: unknown) {
    super(`could not set conntrack parameters from kube-proxy configuration: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

const KERNEL: KernelFolders = { proc: '/proc', sys: '/sys' };
/** More make lookups slow. */
const CONNECTIONS_PER_BUCKET = 4;
const HASH_SIZE = 'module/nf_conntrack/parameters/hashsize';
/** Errors when /sys is mounted read-only, or the parameter belongs to the initial network namespace. */
const READ_ONLY = ['EROFS', 'EACCES', 'EPERM', 'EOPNOTSUPP'];

/**
 * Sets the size and timeouts of the kernel's table of tracked connections (docs/internals/spec/server.md §4), in kube-proxy's order,
 * writing only what differs. Idempotent.
 *
 * Two failures that end kube-proxy do not end the proxy, because a restart does not fix them and Services work without:
 * - The hash table cannot grow because /sys is read-only, as in many containers. Lookups get slower when the table is full.
 *   `readOnlySysfs` is called.
 * - The limit cannot be raised, as where it belongs to the initial network namespace. This is logged.
 *
 * The limit is never lowered.
 * @throws ConntrackSettingsError
 */
export function setUpConntrackTable(
  settings: ConntrackSettings,
  cpus: number,
  logger: Logger,
  readOnlySysfs: (note: string) => void,
  folders = KERNEL,
): void {
  try {
    const maximum = conntrackMaximum(settings, cpus);
    if (maximum > 0 && raiseMaximum(maximum, logger, folders))
      growHashTable(Math.floor(maximum / CONNECTIONS_PER_BUCKET), readOnlySysfs, folders);
    for (const { name, value } of conntrackSysctls(settings)) set(name, value, logger, folders);
  } catch (error) {
    throw new ConntrackSettingsError(error);
  }
}

function set(name: string, value: string, logger: Logger, { proc }: KernelFolders): void {
  if (ensureSysctl(name, value, `${proc}/sys`)) logger.info({ name, value }, 'sysctl set');
}

/**
 * Raises the limit; a higher one may have been set on purpose, and stays.
 * @returns false if it could not be raised, which is logged
 */
function raiseMaximum(maximum: number, logger: Logger, folders: KernelFolders): boolean {
  const name = MAXIMUM_SYSCTL;
  const value = String(maximum);
  const root = `${folders.proc}/sys`;
  const present = readSysctl(name, root);
  const facts = { name, wanted: value, present };
  // To the kernel 0 is no limit.
  if (present === '0' || Number(present) >= maximum) {
    if (present !== value)
      logger.debug(facts, 'the limit of tracked connections is higher than configured; keeping it');
    return true;
  }
  if (isReadOnly(name, root)) {
    logger.warn(facts, 'the limit of tracked connections belongs to another network namespace; keeping it');
    return false;
  }
  try {
    set(name, value, logger, folders);
    return true;
  } catch (error) {
    logger.warn({ ...facts, error }, 'cannot raise the limit of tracked connections; keeping it');
    return false;
  }
}

function growHashTable(buckets: number, readOnlySysfs: (note: string) => void, { sys }: KernelFolders): void {
  const path = `${sys}/${HASH_SIZE}`;
  const current = Number(readFileSync(path, 'utf8'));
  if (current >= buckets) return;
  try {
    overwrite(path, String(buckets));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!READ_ONLY.includes(code ?? '')) throw error;
    readOnlySysfs(
      `cannot raise ${path} from ${current} to ${buckets} (${message}): packets take longer when the table of tracked ` +
        'connections is full; set it on the node, or mount /sys writable',
    );
  }
}
