import { readFileSync, writeFileSync } from 'node:fs';

/** A sysctl could not be set; the message names it, the value, and why. */
export class SysctlError extends Error {
  constructor(name: string, value: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`cannot set the sysctl ${name} to ${value}: ${reason}`, { cause });
    this.name = 'SysctlError';
  }
}

/**
 * Sets a sysctl by its path below /proc/sys unless it has the value already. Idempotent.
 * @throws SysctlError
 */
export function ensureSysctl(name: string, value: string, root = '/proc/sys'): void {
  const path = `${root}/${name}`;
  try {
    if (readFileSync(path, 'utf8').trim() !== value) writeFileSync(path, value);
  } catch (error) {
    throw new SysctlError(name, value, error);
  }
}
