/** The command line cannot be understood. The caller prints the usage, then `Error: <message>`, and exits with 1. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly usage: string = '',
  ) {
    super(message);
    this.name = 'UsageError';
  }
}
