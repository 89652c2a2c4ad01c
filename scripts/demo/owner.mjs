import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Makes this process the owner of the demo of that prefix. Throws if another one is running; a dead owner is ignored. */
export function claim(prefix) {
  const file = `/run/kubeproxy-${prefix}.pid`;
  const other = runningOwner(file);
  if (other)
    throw new Error(
      `Demo "${prefix}" is already running, as process ${other}. Stop it with Ctrl-C, or start this one with --prefix NAME.`,
    );
  writeFileSync(file, String(process.pid));
  return { release: () => rmSync(file, { force: true }) };
}

function runningOwner(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // Another program may have the process number of an owner that was killed.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('start.mjs') ? pid : undefined;
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}
