import { isatty } from 'node:tty';
import { destination, type DestinationStream, pino } from 'pino';
import type { Logger } from '../../application/ports/logger.js';
import { klogLine } from './klog-line.js';
import { terminalLine } from './terminal-line.js';

const METADATA = Symbol.for('pino.metadata');
const DEBUG_VERBOSITY = 2;
/** pino's number for `warn`. */
const WARNING_LEVEL = 40;

/** What each level has in JSON. As with kube-proxy, lines that are no errors have a verbosity. */
const LEVEL_FACTS: Readonly<Record<string, object>> = {
  debug: { level: 'debug', v: DEBUG_VERBOSITY },
  info: { level: 'info', v: 0 },
  warn: { level: 'warn', v: 0 },
  error: { level: 'error' },
};

/** What is logged, and how. May be adjusted at any time. */
export interface LogSettings {
  /** kube-proxy's `-v`: 0 and 1 show info, warnings and errors; from 2 on debug lines too. */
  readonly verbosity: number;
  /** `text`: klog's lines, or at a terminal a form for people. `json`: one object a line, with the keys of component-base. */
  readonly format: 'text' | 'json';
  /** Lines that are no warnings and no errors go to standard output. Missing: no. */
  readonly splitStream?: boolean;
}

/** Where lines go. */
export interface LogStream extends DestinationStream {
  /** Somebody reads along: text takes a form for people. */
  readonly terminal?: boolean;
}

export interface PinoLoggerOptions extends LogSettings {
  /** Default: standard error, written synchronously, so that the last words before an exit are not lost. */
  readonly stream?: LogStream;
  /** Where split-off lines go. Default: standard output. */
  readonly informationStream?: LogStream;
}

/**
 * The log by way of pino. The fact `error` may be an Error; it is shown as `err`, by its message. The fact `caller` of a
 * child tells which part of the program speaks.
 */
export class PinoLogger implements Logger {
  static open({ stream, informationStream, ...settings }: PinoLoggerOptions): PinoLogger {
    const output = new LogOutput(settings, stream ?? standard(2), informationStream ?? standard(1));
    const options: pino.LoggerOptions = {
      level: 'debug',
      base: null,
      timestamp: () => `,"ts":${Date.now()}`,
      formatters: { level: (level) => LEVEL_FACTS[level] ?? { level }, log: withErrorText },
      messageKey: 'msg',
    };
    return new PinoLogger(pino(options, output), output);
  }

  private constructor(
    private readonly sink: pino.Logger,
    private readonly output: LogOutput,
  ) {}

  /** Changes what is logged from now on, by this logger and all that came from it or from which it came. */
  adjust(settings: Partial<LogSettings>): void {
    this.output.settings = { ...this.output.settings, ...settings };
  }

  debug(facts: object, message: string): void {
    if (this.output.settings.verbosity >= DEBUG_VERBOSITY) this.sink.debug(facts, message);
  }

  info(facts: object, message: string): void {
    this.sink.info(facts, message);
  }

  warn(facts: object, message: string): void {
    this.sink.warn(facts, message);
  }

  error(facts: object, message: string): void {
    this.sink.error(withStackTrace(facts, this.output.settings.verbosity), message);
  }

  child(facts: object): PinoLogger {
    return new PinoLogger(this.sink.child(facts), this.output);
  }
}

/** Where lines go, in the form that the settings of the moment ask for. */
class LogOutput implements DestinationStream {
  /** Makes pino say the level of each line before it writes it. */
  readonly [METADATA] = true;
  lastLevel = 0;

  constructor(
    public settings: LogSettings,
    private readonly stream: LogStream,
    private readonly informationStream: LogStream,
  ) {}

  write(line: string): void {
    const { format, splitStream } = this.settings;
    const stream = splitStream && this.lastLevel < WARNING_LEVEL ? this.informationStream : this.stream;
    const form = stream.terminal ? terminalLine : klogLine;
    stream.write(format === 'json' ? line : form(line));
  }
}

function standard(fd: 1 | 2): LogStream {
  return Object.assign(destination({ fd, sync: true }), { terminal: isatty(fd) });
}

/** What only a mistake in the program throws. */
const MISTAKES = [TypeError, ReferenceError, RangeError];

/** Where an error came from: for those who look closely, and always when it is the program's own mistake. */
function withStackTrace(facts: object, verbosity: number): object {
  const { error } = facts as { readonly error?: unknown };
  if (!(error instanceof Error)) return facts;
  const wanted = verbosity >= DEBUG_VERBOSITY || MISTAKES.some((type) => error instanceof type);
  return wanted ? { ...facts, stacktrace: error.stack } : facts;
}

/** The error under the name that Kubernetes gives it. */
function withErrorText(facts: Record<string, unknown>): Record<string, unknown> {
  const { error, ...others } = facts;
  if (error === undefined) return facts;
  return { err: error instanceof Error ? error.message : error, ...others };
}
