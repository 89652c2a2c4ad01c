import { NamedError } from '../model/named-error.js';

/** A migration cannot begin as the cluster is. The message says what is missing, and the commands that bring it. */
export class MigrationError extends NamedError {
  /** @param commands each on a line of its own */
  constructor(problem: string, commands: readonly string[] = []) {
    super([problem, ...commands.map((command) => `  ${command}`)].join('\n'));
  }
}
