import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { programWith } from './faults.mjs';

/** Runs the kernel tests of the whole program with each fault. @param ended called with each fault and whether it was found */
export async function searchKernelTests(faults, tests, ended) {
  for (const fault of faults) {
    const args = [
      'run',
      '-s',
      'jest',
      '--',
      '--selectProjects=kernel',
      '--silent',
      `--testPathPatterns=${tests}`,
    ];
    const env = { ...process.env, KUBEPROXY: await programWith(fault) };
    const [status] = await once(spawn('npm', args, { stdio: 'ignore', env }), 'exit');
    ended(fault, status === 0 ? undefined : `by ${tests}`);
  }
}
