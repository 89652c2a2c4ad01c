/**
 * Structured log. The first argument holds the facts, the second is a short message. The fact `error` may be an
 * Error. Never throws. `child` adds facts to every line; the fact `caller` names the part of the program.
 *
 * `debug` is for routine events such as every change: shown from verbosity 2 (kube-proxy's `-v`), free below. `info` is
 * for starts, stops, recoveries and what the configuration requested: a proxy that works as it should is silent there.
 * `warn` is for repairs and for running without something, `error` for failures.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  child(facts: object): Logger;
  /**
   * A log of lines that are shown from this verbosity (kube-proxy's `-v`); undefined while they are not, so that
   * `logger.verbose?.(4)?.debug(facts, message)` costs nothing then. Left out by logs without these levels.
   */
  verbose?(verbosity: HighVerbosity): Pick<Logger, 'debug'> | undefined;
}

/** The verbosities above that of debug lines: 3 for lists, 4 for calls of handlers and syncs, 5 for their results. */
export type HighVerbosity = 3 | 4 | 5;
