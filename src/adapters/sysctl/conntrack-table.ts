import { readFileSync } from 'node:fs';
import { errorMessage } from '../../application/error-message.js';
import type { Logger } from '../../application/ports/logger.js';
import {
  bucketsFor,
  conntrackMaximum,
  conntrackSysctls,
  maximumSysctl,
  type ConntrackSettings,
} from '../../domain/node/conntrack-sysctls.js';
import { ensureSysctl, isReadOnly, overwrite, readSysctl } from './sysctl.js';

export interface KernelFolders {
  readonly proc: string;
  readonly sys: string;
}

/** Connection tracking cannot be set up as the configuration asks. Not mended by trying again. */
export class ConntrackSettingsError extends Error {
  constructor(cause: unknown) {
    super(`could not set conntrack parameters from kube-proxy configuration: ${errorMessage(cause)}`, {
      cause,
    });
    this.name = 'ConntrackSettingsError';
  }
}

const KERNEL: KernelFolders = { proc: '/proc', sys: '/sys' };
const HASH_SIZE = 'module/nf_conntrack/parameters/hashsize';
/** Why /sys is not ours to write: mounted so, or the parameter belongs to the initial network namespace. */
const NOT_FOR_US = ['EROFS', 'EACCES', 'EPERM', 'EOPNOTSUPP'];

/**
 * Sizes and times the kernel's table of tracked connections (docs/spec/server.md §4), in kube-proxy's order, writing only what
 * differs. Idempotent.
 *
 * Two things that would end kube-proxy do not end the proxy, since no restart mends them and services work without:
 * - the hash table cannot grow because /sys is not writable here, as in many containers: look-ups get slower when the
 *   table is full. `readOnlySysfs` is told.
 * - the limit is offered for reading only: this is not the initial network namespace, whose limit and table it is. It is
 *   logged.
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
    if (maximum > 0 && setMaximum(maximum, logger, folders))
      growHashTable(bucketsFor(maximum), readOnlySysfs, folders);
    for (const { name, value } of conntrackSysctls(settings)) set(name, value, logger, folders);
  } catch (error) {
    throw new ConntrackSettingsError(error);
  }
}

function set(name: string, value: string, logger: Logger, { proc }: KernelFolders): void {
  if (ensureSysctl(name, value, `${proc}/sys`)) logger.info({ name, value }, 'sysctl set');
}

/** False when the limit is not ours to set. */
function setMaximum(maximum: number, logger: Logger, folders: KernelFolders): boolean {
  const { name, value } = maximumSysctl(maximum);
  const root = `${folders.proc}/sys`;
  const present = readSysctl(name, root);
  if (present !== undefined && present !== value && isReadOnly(name, root)) {
    logger.warn(
      { name, wanted: value, present },
      'the limit of tracked connections belongs to another network namespace and stays as it is',
    );
    return false;
  }
  set(name, value, logger, folders);
  return true;
}

function growHashTable(buckets: number, readOnlySysfs: (note: string) => void, { sys }: KernelFolders): void {
  const path = `${sys}/${HASH_SIZE}`;
  const present = Number(readFileSync(path, 'utf8'));
  if (present >= buckets) return;
  try {
    overwrite(path, String(buckets));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!NOT_FOR_US.includes(code ?? '')) throw error;
    readOnlySysfs(
      `${path} cannot be raised from ${present} to ${buckets} (${message}): with a full table of tracked ` +
        'connections packets take longer; set it on the node, or mount /sys writable',
    );
  }
}
