import { errorMessage } from '../../../application/error-message.js';

/** The queries of a file cannot be read. */
export class QueriesError extends Error {
  constructor(path: string, cause: unknown) {
    const place = path === '-' ? 'on standard input' : `in ${path}`;
    super(`cannot read the queries ${place}: ${errorMessage(cause)}`, { cause });
    this.name = 'QueriesError';
  }
}
