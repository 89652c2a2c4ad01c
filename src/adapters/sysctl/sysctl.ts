import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { errorMessage } from '../../application/error-message.js';
import { NamedError } from '../../domain/model/named-error.js';

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
export function isReadOnly(name: string, root = '/proc/sys'): boolean {
  try {
    return (statSync(`${root}/${name}`).mode & 0o222) === 0;
  } catch {
    return false;
  }
}

/** Writes a file of the kernel; it must exist. */
export function overwrite(path: string, value: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(file, value);
  } finally {
    closeSync(file);
  }
}
