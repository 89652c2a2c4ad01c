import { NamedError } from '../model/named-error.js';

/** A migration cannot begin as the cluster is. The message says what is missing. */
export class MigrationError extends NamedError {
  constructor(
    message: string,
    /** That bring it, for the user's shell. */
    readonly commands: readonly string[] = [],
  ) {
    super(message);
  }
}
