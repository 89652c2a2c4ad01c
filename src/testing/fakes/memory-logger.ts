import type { HighVerbosity, Logger } from '../../application/ports/logger.js';

/** The severity of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | `v${HighVerbosity}`;

/** A line as it was logged. */
export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** The line's own facts over those of the logger and its parents. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Keeps what is logged, up to a verbosity. Children write to the same lines. */
export class MemoryLogger implements Logger {
  constructor(
    readonly lines: LogLine[] = [],
    private readonly context: object = {},
    /** Lines above it are left out, as by default those above debug lines. */
    private readonly verbosity = 2,
  ) {}

  debug(facts: object, message: string): void {
    this.write('debug', facts, message);
  }

  info(facts: object, message: string): void {
    this.write('info', facts, message);
  }

  warn(facts: object, message: string): void {
    this.write('warn', facts, message);
  }

  error(facts: object, message: string): void {
    this.write('error', facts, message);
  }

  child(facts: object): MemoryLogger {
    return new MemoryLogger(this.lines, { ...this.context, ...facts }, this.verbosity);
  }

  verbose(verbosity: HighVerbosity): Pick<Logger, 'debug'> | undefined {
    if (verbosity > this.verbosity) return undefined;
    return { debug: (facts, message) => this.write(`v${verbosity}`, facts, message) };
  }

  /** The lines of one level, in order. */
  at(level: LogLevel): readonly LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }

  clear(): void {
    this.lines.length = 0;
  }

  private write(level: LogLevel, facts: object, message: string): void {
    this.lines.push({ level, message, facts: { ...this.context, ...facts } });
  }
}
