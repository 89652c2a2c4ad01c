import { errorMessage } from '../../../../application/error-message.js';
import { NamedError } from '../../../../domain/model/named-error.js';

/** The queries of a file cannot be read. */
export class QueriesError extends NamedError {
  constructor(path: string, cause: unknown) {
    const place = path === '-' ? 'on standard input' : `in ${path}`;
    super(`cannot read the queries ${place}: ${errorMessage(cause)}`, { cause });
  }
}
