import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Step } from './guide.js';
import { shows } from './shows.js';
import { StandIns, type StandIn } from './stand-ins.js';

/**
 * As for a reader of a release, in which OWNER is a name. No test asks a registry: the chart of the clone is the same, but for its version,
 * which is that of the image.
 */
function asRead(command: string): string {
  return command
    .replace(
      /oci:\/\/ghcr\.io\/OWNER\/charts\/kube-proxy-ts(?: --version (\S+))?/g,
      (_, version?: string) => `deploy/chart${version === undefined ? '' : ` --set image.tag=${version}`}`,
    )
    .replaceAll('ghcr.io/OWNER', 'ghcr.io/owner');
}

export interface GuideShellOptions {
  /** Where the commands begin. */
  readonly folder: string;
  /** What the machine of the test does not have, by name. */
  readonly standIns?: Readonly<Record<string, StandIn>>;
  /** Folders with programs, searched after the stand-ins and before the machine's. */
  readonly programs?: readonly string[];
  /** All variables besides PATH that the commands see. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command line that runs another one where the guide's commands are to run: `(command) => host.commandLine(command)`. */
  readonly within?: (command: readonly string[]) => readonly string[];
  /** How long one command may take. Default: a minute. */
  readonly timeoutMs?: number;
}

/** What a command did. */
export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of a guide that failed, or did not print what the page says. */
export class GuideFailure extends Error {
  constructor({ place, command }: Step, what: string, { stdout, stderr }: Omit<Outcome, 'exitCode'>) {
    super(`${place}: ${what}\n  ${command.replaceAll('\n', '\n  ')}\n${stdout}${stderr}`);
  }
}

/** How long a loop (`until …`) is repeated until it prints what the page shows: a node in good state may have a change to write. */
const REPEATED_MS = 20_000;

/** Ends each step's part of both streams; the number is the exit code. A command of a guide never prints it. */
const MARK = /␞(\d+)\n/;

/** Takes one command after the other, in one shell that ends at the first failure. What it reads commands from is hidden from them. */
const LOOP = String.raw`
cd "$1"
mark() { printf '␞%s\n' "$1"; printf '␞%s\n' "$1" >&2; }
trap 'mark $?' EXIT
while IFS= read -r -d '' -u 3 REPLY; do
  eval "$REPLY" </dev/null 3<&-
  mark 0
done
trap - EXIT`;

/** A reader's shell: runs the commands of a guide one by one, each with what the earlier ones left. */
export class GuideShell {
  private readonly process: ChildProcess;
  /** The standard input of the loop, so to speak. */
  private readonly commands: Writable;
  private readonly ran = new Set<string>();
  private out = '';
  private err = '';
  private ended = false;
  private heard: () => void = () => undefined;

  private constructor(
    readonly standIns: StandIns,
    private readonly options: GuideShellOptions,
  ) {
    const { folder, env = {}, programs = [], within = (command) => command } = options;
    const path = [standIns.folder, ...programs, process.env.PATH, '/usr/local/sbin:/usr/sbin:/sbin'].join(
      ':',
    );
    const [file, ...args] = within(['bash', '-euc', LOOP, 'bash', folder]);
    // A group of its own, so that what the guide leaves in the background ends with it.
    this.process = spawn(file!, args, {
      env: { LANG: 'C.UTF-8', HOME: folder, ...env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const [, out, err, commands] = this.process.stdio;
    (out as Readable).setEncoding('utf8').on('data', (part: string) => this.hear('out', part));
    (err as Readable).setEncoding('utf8').on('data', (part: string) => this.hear('err', part));
    this.commands = commands as Writable;
    // That nobody reads it any more is told by the end of the process.
    this.commands.on('error', () => undefined);
    // What it printed last may come a little later than its end.
    this.process.on('exit', () => setTimeout(() => this.end(), 100));
    this.process.on('close', () => this.end());
  }

  static async open(options: GuideShellOptions): Promise<GuideShell> {
    return new GuideShell(await StandIns.make(options.standIns ?? {}), options);
  }

  /** Runs commands in their order. Rejects with `GuideFailure` at the first that fails or prints something else than the page shows. */
  async run(steps: readonly Step[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const step of steps) outcomes.push(await this.step(step));
    return outcomes;
  }

  /** The steps that were not run yet: a test of a page ends by expecting none. */
  left(steps: readonly Step[]): readonly string[] {
    return steps.map(({ place }) => place).filter((place) => !this.ran.has(place));
  }

  /** Ends the shell and all that it started. */
  async close(): Promise<void> {
    try {
      process.kill(-this.process.pid!, 'SIGKILL');
    } catch (error) {
      // Nothing of it runs any more.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    if (!this.ended) await once(this.process, 'close');
    await this.standIns.remove();
  }

  private async step(step: Step): Promise<Outcome> {
    this.ran.add(step.place);
    const { shown } = step;
    const deadline = Date.now() + (step.command.startsWith('until ') ? REPEATED_MS : 0);
    for (;;) {
      this.commands.write(`${asRead(step.command)}\0`);
      const outcome = await this.outcome(step);
      if (outcome.exitCode !== 0) throw new GuideFailure(step, `ended with ${outcome.exitCode}`, outcome);
      if (shown === undefined || shows(shown, outcome.stdout)) return outcome;
      if (Date.now() > deadline)
        throw new GuideFailure(step, `does not print what the page shows:\n${shown}\nbut:`, outcome);
    }
  }

  private async outcome(step: Step): Promise<Outcome> {
    const { timeoutMs = 60_000 } = this.options;
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const [out, err] = [MARK.exec(this.out), MARK.exec(this.err)];
      if (out && err) {
        const outcome = {
          exitCode: Number(out[1]),
          stdout: this.out.slice(0, out.index),
          stderr: this.err.slice(0, err.index),
        };
        this.out = this.out.slice(out.index + out[0].length);
        this.err = this.err.slice(err.index + err[0].length);
        return outcome;
      }
      const streams = { stdout: this.out, stderr: this.err };
      if (this.ended) throw new GuideFailure(step, 'the shell has ended', streams);
      if (Date.now() > deadline) throw new GuideFailure(step, `did not end within ${timeoutMs} ms`, streams);
      await this.news(deadline - Date.now());
    }
  }

  /** Something was printed, the shell ended, or the time is over. */
  private news(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms + 1);
      this.heard = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private hear(stream: 'out' | 'err', part: string): void {
    this[stream] += part;
    this.heard();
  }

  private end(): void {
    this.ended = true;
    this.heard();
  }
}
