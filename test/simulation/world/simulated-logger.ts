import type { Logger } from '../../../src/application/ports/logger.js';

export interface LogLine {
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: object;
  readonly message: string;
}

/** Keeps the lines of the log. */
export class SimulatedLogger implements Logger {
  constructor(
    private readonly now: () => number,
    readonly lines: LogLine[] = [],
    private readonly known: object = {},
  ) {}

  /** The program sets how much is logged. Everything is kept. */
  adjust(): void {
    // Nothing depends on it.
  }

  debug(facts: object, message: string): void {
    this.keep('debug', facts, message);
  }

  info(facts: object, message: string): void {
    this.keep('info', facts, message);
  }

  warn(facts: object, message: string): void {
    this.keep('warn', facts, message);
  }

  error(facts: object, message: string): void {
    this.keep('error', facts, message);
  }

  child(facts: object): SimulatedLogger {
    return new SimulatedLogger(this.now, this.lines, { ...this.known, ...facts });
  }

  private keep(level: LogLine['level'], facts: object, message: string): void {
    this.lines.push({ at: this.now(), level, facts: { ...this.known, ...facts }, message });
  }
}
