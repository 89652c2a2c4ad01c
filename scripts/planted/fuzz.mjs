import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programWith } from './faults.mjs';

/** The modes of the fuzz. */
const MODES = ['nftables', 'iptables'];
/** How long it looks for each fault in each mode. */
const MINUTES = 0.5;
const DISAGREEMENT = /^seed (\d+): /;

/**
 * Sends real packets through the program with each fault, judged by the model.
 * @param ended called with each fault and how it was found, undefined if it was not
 */
export async function searchStories(faults, seed, ended) {
  for (const fault of faults) {
    const program = await programWith(fault);
    let found;
    for (const mode of MODES.filter((one) => fault.modes?.includes(one) ?? true)) {
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

/** The seed of the first story in which a packet or the program fails. */
async function firstDisagreement(program, mode, minutes, seed) {
  const args = [
    'test/fuzz/main.ts',
    `--mode=${mode}`,
    `--minutes=${minutes}`,
    `--seed=${seed}`,
    '--unshrunk',
  ];
  const child = spawn('node_modules/.bin/tsx', args, {
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
