import { spawn, type ChildProcess } from 'node:child_process';
import type { Clock } from '../../../application/ports/clock.js';

/** A program that prints credentials. */
export interface ExecPlugin {
  readonly command: string;
  readonly args: readonly string[];
  /** What its environment has besides this process's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly apiVersion?: string | undefined;
}

/** What a plugin printed: a token, or a certificate and its key in PEM. */
export interface ExecCredential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

/**
 * Runs the exec plugins of a kubeconfig. A plugin that exceeds its time limit, or still runs at `close`, is killed with all
 * processes it has started; whoever waits for it gets the reason as an error.
 */
export class ExecPlugins {
  /** How each plugin that runs is ended. */
  private readonly running = new Map<ChildProcess, (reason: string) => void>();
  private readonly credentials = new WeakMap<ExecPlugin, ExecCredential>();

  constructor(
    private readonly clock: Clock,
    /** Milliseconds that a plugin may take. */
    private readonly limit: number,
  ) {}

  /** What this plugin printed last, unless it has expired; then it runs again. A kubeconfig that is loaded again has new ones. */
  async credential(plugin: ExecPlugin): Promise<ExecCredential> {
    const last = this.credentials.get(plugin);
    if (last && !(Date.parse(last.expirationTimestamp ?? '') <= this.clock.now())) return last;
    const credential = credentialIn(await this.run(plugin), plugin.command);
    this.credentials.set(plugin, credential);
    return credential;
  }

  /** Kills all running plugins. Usable again afterwards. */
  close(): void {
    for (const end of this.running.values()) end('was killed: the connection is closed');
  }

  private run({ command, args, environment, apiVersion }: ExecPlugin): Promise<string> {
    // Nobody is there to answer a prompt.
    const info = { kind: 'ExecCredential', apiVersion, spec: { interactive: false } };
    const env = { ...process.env, ...environment, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
    return new Promise((resolve, reject) => {
      // A process group of its own can be killed as a whole.
      const plugin = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
      const end = (reason: string): void => {
        reject(new Error(`the exec plugin ${command} ${reason}`));
        kill(plugin);
      };
      const late = this.clock.after(this.limit, () =>
        end(`did not answer within ${this.limit} ms and was killed`),
      );
      this.running.set(plugin, end);
      let [printed, complaint] = ['', ''];
      plugin.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
      plugin.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
      plugin.on('error', reject);
      plugin.on('close', (code) => {
        late.cancel();
        this.running.delete(plugin);
        if (code === 0) resolve(printed);
        else
          reject(
            new Error(complaint.trim() || `the exec plugin ${command} ended with ${code ?? 'a signal'}`),
          );
      });
    });
  }
}

function kill(plugin: ChildProcess): void {
  try {
    if (plugin.pid !== undefined) process.kill(-plugin.pid, 'SIGKILL');
  } catch {
    // It has already exited.
  }
  // A process that left the group may hold these open; then `close` would never be emitted.
  plugin.stdout?.destroy();
  plugin.stderr?.destroy();
}

/** What was printed is not repeated in an error: it may have a secret in it. */
function credentialIn(printed: string, command: string): ExecCredential {
  let status: ExecCredential | undefined;
  try {
    ({ status } = JSON.parse(printed) as { status?: ExecCredential });
  } catch {
    // Told below.
  }
  if (!status) throw new Error(`the exec plugin ${command} printed no ExecCredential with a status`);
  return status;
}
