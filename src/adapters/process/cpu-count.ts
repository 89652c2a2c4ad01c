import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

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
