import { closeSync, constants, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { errorMessage } from '../../application/error-message.js';

/** A sysctl could not be set; the message names it, the value, and why. */
export class SysctlError extends Error {
  constructor(name: string, value: string, cause: unknown) {
    super(`cannot set the sysctl ${name} to ${value}: ${errorMessage(cause)}`, { cause });
    this.name = 'SysctlError';
  }
}

/**
 * Sets a sysctl by its path below /proc/sys unless it has the value already; one that cannot be read is taken to differ.
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

/** The value as it is; undefined when it cannot be read. */
export function readSysctl(name: string, root = '/proc/sys'): string | undefined {
  try {
    return readFileSync(`${root}/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Whether the kernel itself offers the sysctl for reading only, as it does outside the initial network namespace. */
export function isReadOnly(name: string, root = '/proc/sys'): boolean {
  try {
    return (statSync(`${root}/${name}`).mode & 0o222) === 0;
  } catch {
    return false;
  }
}

/** Writes a file of the kernel, which is there or cannot be made. */
export function overwrite(path: string, value: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(file, value);
  } finally {
    closeSync(file);
  }
}
