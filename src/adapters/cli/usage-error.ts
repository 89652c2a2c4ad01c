import { NamedError } from '../../domain/model/named-error.js';

/** The command line cannot be understood. The caller prints the message and where help is, and exits with 1. */
export class UsageError extends NamedError {
  /** @param asked the command whose help tells what is understood, as it was called: `kubeproxy explain` */
  constructor(
    message: string,
    readonly asked: string = '',
  ) {
    super(message);
  }
}
