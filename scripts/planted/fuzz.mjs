import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programWith } from './faults.mjs';

/** The modes in which faults are tried that belong to none. */
const MODES = ['nftables', 'iptables'];
const MODE_IN_PATH = /\/(nftables|iptables|ipvs|userspace)\//;
/** How long it looks for each fault in each mode. */
const MINUTES = 0.5;
const FUZZ = ['node_modules/.bin/tsx', 'test/fuzz/main.ts'];
const DISAGREEMENT = /^seed (\d+): /;

/**
 * Sends real packets through the program with each fault, judged by the model. Faults of modes that this kernel lacks are left out.
 * @param ended called with each fault and how it was found, undefined if it was not
 */
export async function searchStories(faults, seed, ended) {
  const supported = execFileSync(FUZZ[0], [FUZZ[1], '--modes'], { encoding: 'utf8' }).split('\n');
  for (const fault of faults) {
    const modes = modesOf(fault).filter((mode) => supported.includes(mode));
    if (modes.length === 0) continue;
    const program = await programWith(fault);
    let found;
    for (const mode of modes) {
      const failing = await firstDisagreement(program, mode, MINUTES, seed);
      if (failing === undefined) continue;
      // A story that fails without the fault, too, proves nothing.
      const unmodified = await firstDisagreement(undefined, mode, 0.001, failing);
      if (unmodified === undefined) found = `in ${mode} mode, seed ${failing}`;
      if (found) break;
    }
    ended(fault, found);
  }
}

/** The modes that a fault belongs to. */
function modesOf({ modes, file }) {
  const mode = MODE_IN_PATH.exec(file)?.[1];
  return modes ?? (mode === undefined ? MODES : [mode]);
}

/** The seed of the first story in which a packet or the program fails. */
async function firstDisagreement(program, mode, minutes, seed) {
  const args = [FUZZ[1], `--mode=${mode}`, `--minutes=${minutes}`, `--seed=${seed}`, '--unshrunk'];
  const child = spawn(FUZZ[0], args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...(program && { KUBEPROXY: program }) },
  });
  const ended = once(child, 'close');
  let failing;
  for await (const line of createInterface({ input: child.stdout })) {
    failing ??= DISAGREEMENT.exec(line)?.[1];
    if (failing !== undefined) child.kill('SIGTERM');
  }
  const [status] = await ended;
  return failing ?? (status === 0 ? undefined : String(seed));
}
