import { execa } from 'execa';
import { NftFailedError, NftMissingError, NftPermissionError, NftTooOldError } from './errors.js';

export interface NftToolOptions {
  /** The program: a name looked up in PATH, or a path. */
  readonly command?: string;
  /** A run that takes longer is killed; the kernel is then unchanged. */
  readonly timeoutMilliseconds?: number;
}

/** How a run ended. Runs that could not start or finish are errors instead. */
export interface NftOutcome {
  readonly succeeded: boolean;
  /** nft's messages, in English. */
  readonly messages: string;
}

const MAX_MESSAGES = 16 * 1024 * 1024;

/** Runs `nft`, and reports why it cannot be run. */
export class NftTool {
  readonly command: string;
  private readonly timeout: number;
  private readonly closing = new AbortController();
  private supported: Promise<void> | undefined;

  constructor(options: NftToolOptions = {}) {
    this.command = options.command ?? 'nft';
    this.timeout = options.timeoutMilliseconds ?? 120_000;
  }

  /** Feeds the pieces to `nft -f -`. */
  async load(pieces: readonly string[]): Promise<NftOutcome> {
    await this.checkVersion();
    return this.run(['-f', '-'], { input: pieces });
  }

  /** `nft list table`, with its output passed on piece by piece. */
  async list(family: 'ip' | 'ip6', table: string, onOutput: (text: string) => void): Promise<NftOutcome> {
    await this.checkVersion();
    const numbersForPrioritiesAndTimes = ['--stateless', '--numeric-priority', '--numeric-time'];
    return this.run([...numbersForPrioritiesAndTimes, 'list', 'table', family, table], { onOutput });
  }

  /** Ends the running process; later runs fail. */
  close(): void {
    this.closing.abort();
  }

  /** Determined once; again after a failure, because a package may be installed meanwhile. */
  private async checkVersion(): Promise<void> {
    this.supported ??= this.readVersion();
    try {
      await this.supported;
    } catch (error) {
      this.supported = undefined;
      throw error;
    }
  }

  private async readVersion(): Promise<void> {
    let output = '';
    const outcome = await this.run(['--version'], { onOutput: (text) => (output += text) });
    const version = /v(\d+)\.(\d+)\.(\d+)/.exec(output);
    if (!outcome.succeeded || !version) {
      throw new NftFailedError(
        `${this.command} --version`,
        `no version in ${JSON.stringify(output + outcome.messages)}`,
      );
    }
    const [major, minor, patch] = version.slice(1).map(Number) as [number, number, number];
    if (major < 1 || (major === 1 && minor === 0 && patch < 1))
      throw new NftTooOldError(this.command, output.trim());
  }

  private async run(
    parameters: readonly string[],
    {
      input = [],
      onOutput,
    }: { readonly input?: readonly string[]; readonly onOutput?: (text: string) => void },
  ): Promise<NftOutcome> {
    const attempt = `${this.command} ${parameters.join(' ')}`;
    if (this.closing.signal.aborted) throw new NftFailedError(attempt, 'the transport is closed');
    const process = execa(this.command, parameters, {
      stdin: input.length === 0 ? 'ignore' : input.values(),
      stdout: onOutput ? 'pipe' : 'ignore',
      buffer: { stdout: false },
      maxBuffer: { stderr: MAX_MESSAGES },
      env: { LC_ALL: 'C' },
      timeout: this.timeout,
      cancelSignal: this.closing.signal,
      forceKillAfterDelay: 1000,
      reject: false,
    });
    try {
      if (onOutput && process.stdout) await forward(process.stdout, onOutput);
    } catch (error) {
      process.kill();
      await process;
      throw error;
    }
    const result = await process;
    const messages = typeof result.stderr === 'string' ? result.stderr : '';
    if (!result.failed) return { succeeded: true, messages };
    if (result.code === 'ENOENT' || result.code === 'EACCES')
      throw new NftMissingError(this.command, result.cause);
    if (messages.includes('Operation not permitted'))
      throw new NftPermissionError(attempt, messages.split('\n')[0]!);
    if (result.exitCode === undefined && !result.isMaxBuffer) {
      throw new NftFailedError(attempt, result.shortMessage ?? 'no exit status', { cause: result.cause });
    }
    return { succeeded: false, messages };
  }
}

/**
 * Passes the output on as it arrives, yielding to the event loop between two pieces. Ends quietly if the process does
 * not start.
 */
async function forward(stream: NodeJS.ReadableStream, onOutput: (text: string) => void): Promise<void> {
  stream.setEncoding('utf8');
  try {
    for await (const text of stream) onOutput(text as string);
  } catch (error) {
    // If the stream is cut off, the process ended abnormally, which the caller reports.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
