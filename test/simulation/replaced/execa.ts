/** In place of `execa`: programs of the simulated machine, in simulated time. */
import { EventEmitter } from 'node:events';
import { commandName, type Programs } from '../kernel/programs/programs.js';
import { Child, type ChildEnd, type ProgramClock } from '../kernel/programs/children.js';

/** What the process that starts programs has of its machine. */
export interface ProgramsHost {
  readonly programs: Programs;
  readonly clock: ProgramClock;
  /** The number of the next process. */
  nextPid(): number;
  /** Takes a child, to kill or to abandon it when the process ends. */
  adopt(child: Child): void;
}

let host: (environment: Readonly<Record<string, string>>) => ProgramsHost;

/** From now on programs are started there. @param next by the environment that a program is given */
export function startProgramsOf(next: typeof host): void {
  host = next;
}

/** The options of execa that are understood. */
interface Options {
  readonly input?: AsyncIterable<string | Buffer> | Iterable<string> | string;
  readonly stdin?: 'ignore';
  readonly stdout?: 'ignore' | 'pipe';
  readonly buffer?: boolean | { readonly stdout?: boolean };
  readonly stripFinalNewline?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly cancelSignal?: AbortSignal;
  readonly reject?: boolean;
}

interface Result {
  readonly code?: string;
  readonly cause?: unknown;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly shortMessage?: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly failed: boolean;
}

/** The standard output of a child: its pieces come as they are printed. */
class Output extends EventEmitter {
  setEncoding(): this {
    return this;
  }
}

type Running = Promise<Result> & {
  readonly pid: number | undefined;
  readonly stdout: Output | undefined;
  kill(signal?: string): boolean;
};

const SIGNALS: Readonly<Record<string, string>> = { SIGTERM: 'Termination', SIGKILL: 'Forced termination' };

export function execa(file: string, parameters: readonly string[] = [], options: Options = {}): Running {
  const here = host(options.env ?? {});
  const command = [file, ...parameters];
  if (!here.programs.has(file)) return notFound(command, here);
  const stdout = options.stdout === 'ignore' ? undefined : new Output();
  const isKept =
    typeof options.buffer === 'object' ? options.buffer.stdout !== false : options.buffer !== false;
  const input = pieces(options.input);
  let kept = '';
  let why: 'timed out' | 'canceled' | undefined;
  let ended: (end: ChildEnd) => void = () => undefined;
  const over = new Promise<ChildEnd>((resolve) => (ended = resolve));
  const child = new Child(here.programs, command, here.nextPid(), commandName(file), here.clock, {
    wants: () =>
      void input.next().then(
        ({ value, done }) => child.give(done ? undefined : String(value)),
        // What fails to be made ends there, as a pipe does.
        () => child.give(undefined),
      ),
    prints(piece) {
      if (isKept && stdout) kept += piece;
      stdout?.emit('data', piece);
    },
    ends: ended,
  });
  here.adopt(child);
  const cancel = (): void => {
    why ??= 'canceled';
    child.kill();
  };
  const late =
    options.timeout === undefined || options.timeout === 0
      ? undefined
      : here.clock.after(options.timeout, () => {
          why ??= 'timed out';
          child.kill();
        });
  if (options.cancelSignal?.aborted) cancel();
  options.cancelSignal?.addEventListener('abort', cancel, { once: true });
  const strip = (text: string): string =>
    options.stripFinalNewline === false ? text : text.replace(/\r?\n$/, '');
  const result = over.then(({ exitCode, signal }): Result => {
    late?.cancel();
    options.cancelSignal?.removeEventListener('abort', cancel);
    void input.return?.();
    const failed = exitCode !== 0;
    const reason =
      why === 'timed out' ? `Command timed out after ${options.timeout} milliseconds` : undefined;
    return {
      failed,
      ...(exitCode === undefined ? { signal } : { exitCode }),
      ...(failed && { shortMessage: `${reason ?? wordsFor(why, exitCode, signal)}: ${command.join(' ')}` }),
      ...(isKept && stdout && { stdout: strip(kept) }),
      stderr: strip(child.stderr),
    } as Result;
  });
  const checked = result.then((each) => {
    if (each.failed && options.reject !== false) throw Object.assign(new Error(each.shortMessage), each);
    return each;
  });
  return Object.assign(checked, {
    pid: child.pid,
    stdout,
    kill: (signal?: string) => {
      if (child.hasEnded) return false;
      child.kill(signal);
      return true;
    },
  });
}

function wordsFor(why: 'timed out' | 'canceled' | undefined, exitCode?: number, signal?: string): string {
  if (why === 'canceled') return 'Command was canceled';
  if (exitCode !== undefined) return `Command failed with exit code ${exitCode}`;
  return `Command was killed with ${signal} (${SIGNALS[signal ?? ''] ?? signal})`;
}

/** A child that was never there. */
function notFound(command: readonly string[], { clock }: ProgramsHost): Running {
  const cause = Object.assign(new Error(`spawn ${command[0]} ENOENT`), { code: 'ENOENT' });
  const shortMessage = `Command failed with ENOENT: ${command.join(' ')}\n${cause.message}`;
  const result: Result = { failed: true, code: 'ENOENT', cause, shortMessage, stdout: '', stderr: '' };
  const promise = new Promise<Result>((resolve) => clock.after(0, () => resolve(result)));
  return Object.assign(promise, { pid: undefined, stdout: undefined, kill: () => false });
}

function pieces(input: Options['input']): AsyncIterator<string | Buffer> {
  async function* single(): AsyncGenerator<string | Buffer> {
    if (typeof input === 'string') yield input;
    else if (input) yield* input as AsyncIterable<string>;
  }
  return single();
}
