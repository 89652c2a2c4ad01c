import { destination, type DestinationStream, pino, stdSerializers } from 'pino';
import type { Logger } from '../../application/ports/logger.js';
import { textLine } from './text-line.js';

export interface PinoLoggerOptions {
  /** kube-proxy's `-v`: 0 and 1 show info, warnings and errors; from 2 on debug lines too. */
  readonly verbosity: number;
  /** `text`: one line for people. `json`: one JSON object a line. */
  readonly format: 'text' | 'json';
  /** Default: standard error, written synchronously, so that the last words before an exit are not lost. */
  readonly stream?: DestinationStream;
}

/** The log by way of pino. `error` and `err` among the facts may be Errors. */
export class PinoLogger implements Logger {
  static open({ verbosity, format, stream }: PinoLoggerOptions): PinoLogger {
    const output = stream ?? destination({ fd: 2, sync: true });
    const options: pino.LoggerOptions = {
      level: verbosity >= 2 ? 'debug' : 'info',
      base: null,
      serializers: { error: errorFacts, err: errorFacts },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      messageKey: 'message',
    };
    const text: DestinationStream = { write: (line) => void output.write(textLine(line)) };
    return new PinoLogger(pino(options, format === 'json' ? output : text));
  }

  private constructor(private readonly sink: pino.Logger) {}

  debug(facts: object, message: string): void {
    this.sink.debug(facts, message);
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

  child(facts: object): Logger {
    return new PinoLogger(this.sink.child(facts));
  }
}

function errorFacts(value: unknown): unknown {
  return value instanceof Error ? stdSerializers.err(value) : value;
}
