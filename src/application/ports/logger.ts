/**
 * Structured log. The first argument holds the facts, the second says what happened in a few words.
 * Never throws. `child` adds facts to every line.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  child(facts: object): Logger;
}
