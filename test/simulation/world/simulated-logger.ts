import type { Logger } from '../../../src/application/ports/logger.js';

export interface LogLine {
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: object;
  readonly message: string;
}

/** Keeps the lines of the log. */
export class SimulatedLogger implements Logger {
  readonly debug = this.keeping('debug');
  readonly info = this.keeping('info');
  readonly warn = this.keeping('warn');
  readonly error = this.keeping('error');

  constructor(
    private readonly now: () => number,
    readonly lines: LogLine[] = [],
    private readonly known: object = {},
  ) {}

  /** The program sets how much is logged. Everything is kept. */
  adjust(): void {
    // Nothing depends on it.
  }

  child(facts: object): SimulatedLogger {
    return new SimulatedLogger(this.now, this.lines, { ...this.known, ...facts });
  }

  private keeping(level: LogLine['level']) {
    return (facts: object, message: string): void =>
      void this.lines.push({ at: this.now(), level, facts: { ...this.known, ...facts }, message });
  }
}
