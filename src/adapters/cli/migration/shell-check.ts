import { spawn } from 'node:child_process';
import type { HealthCheck } from '../../../application/ports/migration/health-check.js';

/** What is kept of what a command prints. Characters. */
const KEPT = 500;

/** A command of whoever migrates, run by `sh` on their machine, with the node's name in NODE. 0 is healthy. */
export class ShellCheck implements HealthCheck {
  constructor(readonly name: string) {}

  /** An abort ends the command, and what it started. */
  check(node: string, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const process_ = spawn('sh', ['-c', this.name], {
        env: { ...process.env, NODE: node },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let said = '';
      for (const stream of [process_.stdout, process_.stderr])
        stream.on('data', (piece: Buffer) => (said = `${said}${piece.toString()}`.slice(-KEPT)));
      const end = (): void => {
        if (process_.pid !== undefined) process.kill(-process_.pid, 'SIGTERM');
      };
      signal.addEventListener('abort', end, { once: true });
      process_.once('error', reject);
      process_.once('close', (code, by) => {
        signal.removeEventListener('abort', end);
        if (signal.aborted) return reject(signal.reason as Error);
        const last = said.trimEnd().split('\n').at(-1)!;
        const how = code === null ? `it was ended by ${by}` : `it ended with ${code}`;
        resolve(code === 0 ? undefined : `${how}${last && `: ${last}`}`);
      });
    });
  }
}
