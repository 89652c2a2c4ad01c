/** The log, written by pino: as JSON, as klog writes text, or for people at a terminal. */

import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import { destination, pino, symbols, type DestinationStream } from 'pino';
import type { HighVerbosity, Logger } from '../../application/ports/logger.js';
import { printableJson, jsonText, quote, printable } from './quote.js';

/** Level and form of the log. Adjustable at any time. */
export interface LogSettings {
  /** kube-proxy's `-v`: 0 and 1 show info, warnings and errors; 2 shows debug lines too; 3 to 5 show `HighVerbosity`. */
  readonly verbosity: number;
  /** `text`: klog's lines, or at a terminal a form for people. `json`: one object per line, with the keys of component-base. */
  readonly format: 'text' | 'json';
  /** Sends lines other than warnings and errors to standard output. Default false. */
  readonly splitStream?: boolean;
}

/** Where lines go. */
export interface LogStream extends DestinationStream {
  /** The stream is a terminal: text takes a form for people. */
  readonly terminal?: boolean;
}

export interface PinoLoggerOptions extends LogSettings {
  /** Default: standard error, written synchronously, so that the last lines before an exit are not lost. */
  readonly stream?: LogStream;
  /** Where split-off lines go. Default: standard output. */
  readonly informationStream?: LogStream;
}

const DEBUG_VERBOSITY = 2;
/** Levels below pino's `debug`, by the verbosity from which they are shown. */
const HIGH_VERBOSITIES = { v3: 19, v4: 18, v5: 17 } as const;
/** pino's number for `warn`. */
const WARNING_LEVEL = 40;

/** The JSON keys of each level. As in kube-proxy, lines other than errors have a verbosity. */
const LEVEL_FACTS: Readonly<Record<string, object>> = {
  v5: { level: 'debug', v: 5 },
  v4: { level: 'debug', v: 4 },
  v3: { level: 'debug', v: 3 },
  debug: { level: 'debug', v: DEBUG_VERBOSITY },
  info: { level: 'info', v: 0 },
  warn: { level: 'warn', v: 0 },
  error: { level: 'error' },
};

/**
 * The log, written by pino. The fact `error` may be an Error; it is shown as `err`, by its message. The fact `caller` of a
 * child names the part of the program.
 */
export class PinoLogger implements Logger {
  static open({ stream, informationStream, ...settings }: PinoLoggerOptions): PinoLogger {
    const output = new LogOutput(settings, stream ?? standard(2), informationStream ?? standard(1));
    const options: pino.LoggerOptions<keyof typeof HIGH_VERBOSITIES> = {
      level: 'v5',
      customLevels: HIGH_VERBOSITIES,
      base: null,
      timestamp: () => `,"ts":${Date.now()}`,
      formatters: { level: (level) => LEVEL_FACTS[level] ?? { level } },
      messageKey: 'msg',
    };
    return new PinoLogger(pino(options, output), output);
  }

  private constructor(
    private readonly sink: pino.Logger<keyof typeof HIGH_VERBOSITIES>,
    private readonly output: LogOutput,
  ) {}

  /** Changes what this logger logs from now on, together with all its parents and children. */
  adjust(settings: Partial<LogSettings>): void {
    this.output.settings = { ...this.output.settings, ...settings };
  }

  debug(facts: object, message: string): void {
    if (this.output.settings.verbosity >= DEBUG_VERBOSITY) this.sink.debug(withErrorText(facts), message);
  }

  info(facts: object, message: string): void {
    this.sink.info(withErrorText(facts), message);
  }

  warn(facts: object, message: string): void {
    this.sink.warn(withErrorText(facts), message);
  }

  error(facts: object, message: string): void {
    this.sink.error(withErrorText(withStackTrace(facts, this.output.settings.verbosity)), message);
  }

  verbose(verbosity: HighVerbosity): Pick<Logger, 'debug'> | undefined {
    if (this.output.settings.verbosity < verbosity) return undefined;
    return { debug: (facts, message) => this.sink[`v${verbosity}`](withErrorText(facts), message) };
  }

  child(facts: object): PinoLogger {
    return new PinoLogger(this.sink.child(facts), this.output);
  }
}

/** Writes lines in the form of the current settings. */
class LogOutput implements DestinationStream {
  /** Makes pino set the `last…` fields before it writes a line, so that text is made from the facts, not from the JSON. */
  readonly [symbols.needsMetadataGsym] = true;
  lastLevel = 0;
  lastObj: object = {};
  lastMsg = '';
  lastTime = '';
  lastLogger: pino.Logger | undefined;
  private readonly childFacts = new WeakMap<pino.Logger, object>();

  constructor(
    public settings: LogSettings,
    private readonly stream: LogStream,
    private readonly informationStream: LogStream,
  ) {}

  write(json: string): void {
    const { format, splitStream } = this.settings;
    const stream = splitStream && this.lastLevel < WARNING_LEVEL ? this.informationStream : this.stream;
    stream.write(format === 'json' ? printableJson(json) : this.text(stream.terminal ?? false));
  }

  private text(terminal: boolean): string {
    const { lastLevel, lastTime, lastMsg, lastLogger, lastObj } = this;
    const level = pino.levels.labels[lastLevel] ?? 'debug';
    const known = { ...(lastLogger && this.factsOf(lastLogger)), ...lastObj };
    const record = logRecord(level, Number(lastTime), lastMsg, known);
    return terminal ? terminalLine(record) : klogLine(record);
  }

  /** The facts of a child. pino keeps them as JSON only, so they are read once. */
  private factsOf(logger: pino.Logger): object {
    let facts = this.childFacts.get(logger);
    if (!facts) this.childFacts.set(logger, (facts = logger.bindings()));
    return facts;
  }
}

function standard(fd: 1 | 2): LogStream {
  return Object.assign(destination({ fd, sync: true }), { terminal: isatty(fd) });
}

/** Errors that only a bug in the program throws. */
const BUGS = [TypeError, ReferenceError, RangeError];

/** Adds where an error came from: at high verbosity, and always for bugs in the program. */
function withStackTrace(facts: object, verbosity: number): object {
  const { error } = facts as { readonly error?: unknown };
  if (!(error instanceof Error)) return facts;
  const wanted = verbosity >= DEBUG_VERBOSITY || BUGS.some((type) => error instanceof type);
  return wanted ? { ...facts, stacktrace: error.stack } : facts;
}

/** Puts the error first, under the name that Kubernetes uses for it. */
function withErrorText(facts: object): object {
  const { error, ...others } = facts as Readonly<Record<string, unknown>>;
  if (error === undefined) return facts;
  return { err: error instanceof Error ? error.message : error, ...others };
}

/** One record of the log. */
interface LogRecord {
  readonly level: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The part of the program that logs it. */
  readonly caller: string;
  readonly message: string;
  /** Names and values, the error first. Only values that have a text. */
  readonly facts: readonly (readonly [name: string, value: unknown])[];
}

/** Makes a record of the facts of a logger and its parents. `err` and `caller` among the facts are those of the record. */
export function logRecord(level: string, time: number, message: string, known: object): LogRecord {
  const { err, caller, ...rest } = known as Readonly<Record<string, unknown>>;
  const facts = Object.entries({ err, ...rest }).filter(([, value]) => hasText(value));
  return { level, time, caller: typeof caller === 'string' ? caller : 'kube-proxy', message, facts };
}

/** JSON skips the others too. */
function hasText(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
}

const SEVERITY: Readonly<Record<string, string>> = { warn: 'W', error: 'E' };

/**
 * A record as klog writes it as text, the form that log pipelines of clusters expect:
 * `I1122 17:36:00.674000   20847 sync-loop:1] "synced" family="IPv4" written=4`. The part of the program stands in place of a
 * source file. The clock has milliseconds. Strings are quoted, numbers and booleans are bare, anything else is JSON.
 */
export function klogLine({ level, time, caller, message, facts }: LogRecord): string {
  const date = new Date(time);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = two(date.getMonth() + 1) + two(date.getDate());
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const micros = `${String(date.getMilliseconds()).padStart(3, '0')}000`;
  const severity = SEVERITY[level] ?? 'I';
  const head = `${severity}${day} ${clock}.${micros} ${String(process.pid).padStart(7)} ${caller}:1]`;
  const shown = facts.map(
    ([name, value]) => `${name}=${typeof value === 'string' ? quote(value) : jsonText(value)}`,
  );
  return `${[head, quote(message), ...shown].join(' ')}\n`;
}

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<string, Style>> = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' };

/** A record for people at a terminal: `19:04:12.345 WARN  what happened  fact=value other="two words"`. */
export function terminalLine(
  { level, time, message, facts }: LogRecord,
  colored = process.env['NO_COLOR'] === undefined,
): string {
  const style = (how: Style, text: string): string =>
    colored ? styleText(how, text, { validateStream: false }) : text;
  const date = new Date(time);
  const clock = `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  const head = `${style('dim', clock)} ${style(STYLES[level] ?? 'reset', level.toUpperCase().padEnd(5))} ${printable(message)}`;
  const shown = facts.map(([name, value]) => `${style('dim', `${name}=`)}${valueText(value)}`);
  return `${head}${shown.length > 0 ? '  ' : ''}${shown.join(' ')}\n`;
}

function valueText(value: unknown): string {
  if (typeof value !== 'string') return jsonText(value);
  return /^[^\s"=\p{C}]+$/u.test(value) ? value : quote(value);
}
