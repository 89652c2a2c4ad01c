import { destination, type DestinationStream, pino, stdSerializers } from 'pino';
import type { Logger } from '../../application/ports/logger.js';
import { textLine } from './text-line.js';

const METADATA = Symbol.for('pino.metadata');
const DEBUG_VERBOSITY = 2;
/** pino's number for `warn`. */
const WARNING_LEVEL = 40;

/** What is logged, and how. May be adjusted at any time. */
export interface LogSettings {
  /** kube-proxy's `-v`: 0 and 1 show info, warnings and errors; from 2 on debug lines too. */
  readonly verbosity: number;
  /** `text`: one line for people. `json`: one JSON object a line. */
  readonly format: 'text' | 'json';
  /** Lines that are no warnings and no errors go to standard output. Missing: no. */
  readonly splitStream?: boolean;
}

export interface PinoLoggerOptions extends LogSettings {
  /** Default: standard error, written synchronously, so that the last words before an exit are not lost. */
  readonly stream?: DestinationStream;
  /** Where split-off lines go. Default: standard output. */
  readonly informationStream?: DestinationStream;
}

/** The log by way of pino. `error` and `err` among the facts may be Errors. */
export class PinoLogger implements Logger {
  static open({ stream, informationStream, ...settings }: PinoLoggerOptions): PinoLogger {
    const output = new LogOutput(settings, stream ?? standard(2), informationStream ?? standard(1));
    const options: pino.LoggerOptions = {
      level: 'debug',
      base: null,
      serializers: { error: errorFacts, err: errorFacts },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      messageKey: 'message',
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
    this.sink.error(facts, message);
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
    private readonly stream: DestinationStream,
    private readonly informationStream: DestinationStream,
  ) {}

  write(line: string): void {
    const { format, splitStream } = this.settings;
    const stream = splitStream && this.lastLevel < WARNING_LEVEL ? this.informationStream : this.stream;
    stream.write(format === 'json' ? line : textLine(line));
  }
}

function standard(fd: 1 | 2): DestinationStream {
  return destination({ fd, sync: true });
}

function errorFacts(value: unknown): unknown {
  return value instanceof Error ? stdSerializers.err(value) : value;
}
