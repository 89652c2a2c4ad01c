import { execa, type ResultPromise } from 'execa';
import { builtProxy } from './built-proxy.js';
import type { Host } from '../testbed/host.js';
import { InVain, until } from '../until.js';

/** Milliseconds; only ends a failure, as a machine may be busy with other things for that long. */
const ENDS_WITHIN = 100_000;

export interface CommandOptions {
  /** Over the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** The Node to run it with. Default: that of the test. */
  readonly node?: string;
  /** The file to run instead of the program under test. */
  readonly program?: string;
  /** A shell script to run first, in the mount namespace that the program will have for itself. */
  readonly prepare?: string;
}

/** How a run of the program ended. */
export interface Ended {
  /** Undefined when a signal killed it. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** One run of the real program on a host, with any arguments: running → ended by itself, stopped or killed. */
export class Command {
  private readonly process: ResultPromise;
  private out = '';
  private err = '';

  private constructor(program: string, host: Host, args: readonly string[], options: CommandOptions) {
    const { env = {}, node = process.execPath, prepare } = options;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const shell = prepare === undefined ? [] : ['sh', '-ec', `${prepare}\nexec "$@"`, 'sh'];
    const line = [...shell, 'env', ...variables, node, program, ...args];
    const [file, ...rest] = host.commandLine(line);
    this.process = execa(file!, rest, { reject: false, buffer: false, stdin: 'ignore' });
    this.process.stdout!.on('data', (chunk: Buffer) => (this.out += chunk.toString()));
    this.process.stderr!.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
  }

  static async start(host: Host, args: readonly string[], options: CommandOptions = {}): Promise<Command> {
    return new Command(options.program ?? (await builtProxy()), host, args, options);
  }

  /** Runs it to its end. */
  static async run(host: Host, args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
    const command = await Command.start(host, args, options);
    return command.ended(ENDS_WITHIN);
  }

  /** What it has written to standard error. */
  get log(): string {
    return this.err;
  }

  /** What it has written to standard output so far. */
  get output(): string {
    return this.out;
  }

  get pid(): number {
    return this.process.pid!;
  }

  get running(): boolean {
    const { exitCode, signalCode } = this.process;
    return exitCode === null && signalCode === null;
  }

  /** Waits until the condition holds, as `until` does, for as long as it runs. */
  async until(what: string, condition: () => Promise<boolean> | boolean, timeoutMs?: number): Promise<void> {
    const holds = async (): Promise<boolean> => {
      if (!this.running) throw new InVain(`the program ended:\n${this.log}`);
      return condition();
    };
    await until(what, holds, timeoutMs);
  }

  /** Waits until it ends by itself. */
  async end(): Promise<Ended> {
    return this.ended(ENDS_WITHIN);
  }

  /** Sends a signal and waits for nothing. */
  signal(signal: 'SIGTERM' | 'SIGINT'): void {
    this.process.kill(signal);
  }

  /** Ends it with a signal. */
  async stop(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<Ended> {
    this.process.kill(signal);
    return this.ended(ENDS_WITHIN);
  }

  /** Waits for its end; kills it, and fails, when that does not come in time. */
  private async ended(timeoutMs: number): Promise<Ended> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.process.kill('SIGKILL');
    }, timeoutMs);
    const { exitCode } = await this.process;
    clearTimeout(timer);
    if (late) throw new Error(`the program did not end within ${timeoutMs} ms:\n${this.out}${this.err}`);
    return { exitCode, stdout: this.out, stderr: this.err };
  }
}
