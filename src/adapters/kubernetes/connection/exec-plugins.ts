import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { Clock } from '../../../application/ports/clock.js';

/**
 * Runs the exec plugins of a kubeconfig for the client library. A plugin that exceeds its time limit, or still runs at
 * `close`, is killed with all processes it has started; the library gets the reason as an error.
 */
export class ExecPlugins {
  private readonly running = new Map<ChildProcess, string>();

  constructor(
    private readonly clock: Clock,
    /** Milliseconds that a plugin may take. */
    private readonly limit: number,
  ) {}

  /** Like `spawn` of node:child_process, with an empty standard input: nobody is there to answer a prompt. */
  readonly spawn = (
    command: string,
    args: readonly string[] = [],
    options: SpawnOptions = {},
  ): ChildProcess => {
    // A process group of its own can be killed as a whole.
    const plugin = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const late = this.clock.after(this.limit, () =>
      this.kill(plugin, `the exec plugin ${command} did not answer within ${this.limit} ms and was killed`),
    );
    this.running.set(plugin, command);
    plugin.on('close', () => {
      late.cancel();
      this.running.delete(plugin);
    });
    return plugin;
  };

  /** Kills all running plugins. Usable again afterwards. */
  close(): void {
    for (const [plugin, command] of this.running)
      this.kill(plugin, `the exec plugin ${command} was killed: the connection is closed`);
  }

  private kill(plugin: ChildProcess, reason: string): void {
    plugin.emit('error', new Error(reason));
    try {
      if (plugin.pid !== undefined) process.kill(-plugin.pid, 'SIGKILL');
    } catch {
      // It has already exited.
    }
    // A process that left the group may hold these open; then `close` would never be emitted.
    plugin.stdout?.destroy();
    plugin.stderr?.destroy();
  }
}
