import { NamedError } from '../../domain/model/named-error.js';

/** The command line cannot be understood. The caller prints the usage, then `Error: <message>`, and exits with 1. */
export class UsageError extends NamedError {
  constructor(
    message: string,
    readonly usage: string = '',
  ) {
    super(message);
  }
}
