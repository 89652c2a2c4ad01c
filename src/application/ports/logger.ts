/**
 * Structured log. The first argument holds the facts, the second says what happened in a few words. `error` among the
 * facts may be an Error. Never throws. `child` adds facts to every line; `caller` names the part of the program.
 *
 * `debug` is for what happens all the time, each change included: it is shown from verbosity 2 (kube-proxy's `-v`), and
 * costs nothing below. `info` is for starts, stops, recoveries and what the configuration asked for: a proxy that runs as it
 * should is silent there. `warn` is for what is repaired or made do without, `error` for what fails.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  child(facts: object): Logger;
}
