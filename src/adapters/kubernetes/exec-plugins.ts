import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { Clock } from '../../application/ports/clock.js';

/**
 * Runs the exec plugins of a kubeconfig, as the client library asks for it. None outlives its time limit or `close`: it is
 * killed with all processes that it has started, and the library is told why.
 */
export class ExecPlugins {
  private readonly running = new Map<ChildProcess, string>();

  constructor(
    private readonly clock: Clock,
    /** Milliseconds that a plugin may take. */
    private readonly limit: number,
  ) {}

  /** As `spawn` of node:child_process. Nobody answers what a plugin asks: its standard input is empty. */
  readonly spawn = (
    command: string,
    args: readonly string[] = [],
    options: SpawnOptions = {},
  ): ChildProcess => {
    // A group of its own can be killed as a whole.
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

  /** Kills those that run. Usable again afterwards. */
  close(): void {
    for (const [plugin, command] of this.running)
      this.kill(plugin, `the exec plugin ${command} was killed: the connection is closed`);
  }

  private kill(plugin: ChildProcess, reason: string): void {
    plugin.emit('error', new Error(reason));
    try {
      if (plugin.pid !== undefined) process.kill(-plugin.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
    // Who left its group may hold these open, and no end would be told.
    plugin.stdout?.destroy();
    plugin.stderr?.destroy();
  }
}
