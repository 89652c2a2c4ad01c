/** Starts command-line tools such as iptables, and reports why they failed. */

import { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Options } from 'execa';
import { NamedError } from '../domain/model/named-error.js';

interface ToolOptions {
  /** Comes before every command: `['ip', 'netns', 'exec', 'NAME']`. */
  readonly launcher: readonly string[];
  /** A run that takes longer is killed. */
  readonly timeoutMilliseconds: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** The package of the programs, and its minimum version: `ipset (6.0 or later)`. */
  readonly from: string;
}

export interface ToolStreams {
  readonly input?: Iterable<string>;
  /** Keep the output, ignore it, or pass it on piece by piece. */
  readonly stdout?: 'all' | 'ignore' | ((piece: string) => void);
}

export interface ToolOutcome {
  /** The number of the process; undefined for one that was not started. */
  readonly pid: number | undefined;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts programs of one package, and ends them when it is closed. */
export class ToolPrograms {
  private readonly closing = new AbortController();

  constructor(private readonly tools: ToolOptions) {}

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Ends what runs; later calls fail. Idempotent. */
  close(): void {
    this.closing.abort();
  }

  /**
   * Runs a program until it exits, with any status.
   * @throws ToolMissingError when it cannot be started, ToolKilledError when it was killed or ran too long; the signal's reason
   * when it is aborted
   */
  async run(
    command: readonly string[],
    { input, stdout = 'ignore' }: ToolStreams = {},
    signal?: AbortSignal,
  ): Promise<ToolOutcome> {
    // Loaded for the first program only: nftables mode needs none.
    const { execa } = await import('execa');
    const attempt = command.join(' ');
    const { launcher, environment, from } = this.tools;
    if (this.closing.signal.aborted) throw new ToolFailedError(attempt, 'it is closed');
    signal?.throwIfAborted();
    const [file, ...parameters] = [...launcher, ...command];
    let isRunning = true;
    const pieces = input && yieldingBetween(input, () => isRunning);
    const options = {
      ...(pieces ? { input: Readable.from(pieces, { highWaterMark: READ_AHEAD }) } : { stdin: 'ignore' }),
      stdout: stdout === 'ignore' ? stdout : 'pipe',
      buffer: { stdout: stdout === 'all' },
      maxBuffer: MAX_OUTPUT,
      stripFinalNewline: false,
      env: { LC_ALL: 'C', ...environment },
      timeout: this.tools.timeoutMilliseconds,
      cancelSignal: signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal,
      forceKillAfterDelay: 1000,
      reject: false,
    } satisfies Options;
    const running = execa(file!, parameters, options);
    let problem: unknown;
    if (typeof stdout === 'function')
      running.stdout?.setEncoding('utf8').on('data', (piece: string) => {
        try {
          if (problem === undefined) stdout(piece);
        } catch (error) {
          problem = error;
          running.kill();
        }
      });
    const result = await running;
    isRunning = false;
    signal?.throwIfAborted();
    if (problem !== undefined) throw problem;
    if (result.code === 'ENOENT' || result.code === 'EACCES')
      throw new ToolMissingError(command[0]!, from, result.cause);
    if (result.exitCode === undefined)
      throw new ToolKilledError(attempt, result.shortMessage ?? 'no exit status', { cause: result.cause });
    const stderr = result.stderr ?? '';
    // Launchers report a missing program in their own ways: env and nsenter, and `ip netns exec`.
    const isMissing = result.exitCode === 127 || /exec of .* failed: No such file/.test(stderr);
    if (launcher.length > 0 && isMissing) throw new ToolMissingError(command[0]!, from, stderr);
    const { pid } = running;
    return { pid, exitCode: result.exitCode, stdout: (result.stdout as string | undefined) ?? '', stderr };
  }
}

/** How many pieces of input wait for the tool, which reads them while the next chains are gathered. */
const READ_AHEAD = 64;
const MAX_OUTPUT = 1024 * 1024 * 1024;

/**
 * Yields to other work after each piece. Makes no more pieces once the tool has ended, because their source may change then.
 */
async function* yieldingBetween(pieces: Iterable<string>, isWanted: () => boolean): AsyncGenerator<string> {
  for (const piece of pieces) {
    if (piece !== '') yield piece;
    await yieldToEventLoop();
    if (!isWanted()) return;
  }
}

/** A tool could not be used. Anything that it wrote before stays, also when a run was killed. */
export abstract class ToolError extends NamedError {}

/** There is no such program to start. */
export class ToolMissingError extends ToolError {
  /** @param from its package and minimum version */
  constructor(program: string, from: string, cause?: unknown) {
    super(`cannot start ${program}: install the package ${from}, or add it to PATH`, { cause });
  }
}

/** The process lacks a permission. */
export class ToolPermissionError extends ToolError {
  constructor(attempt: string, output: string) {
    super(`${attempt}: not permitted: run as root with CAP_NET_ADMIN in this network namespace (${output})`);
  }
}

/** Anything else: a tool failed to list, or is closed. */
export class ToolFailedError extends ToolError {
  constructor(attempt: string, reason: string, options?: ErrorOptions) {
    super(`${attempt} failed: ${reason}`, options);
  }
}

/** A tool was killed, or reached its timeout: its result is unknown. */
export class ToolKilledError extends ToolFailedError {}

const MOST_SHOWN = 3;

/** The first reasons of many, and how many more there are. */
export function firstReasons(reasons: readonly string[]): string {
  const shown = reasons.slice(0, MOST_SHOWN).join('; ') || 'no reason given';
  return reasons.length > MOST_SHOWN ? `${shown}; and ${reasons.length - MOST_SHOWN} more` : shown;
}
