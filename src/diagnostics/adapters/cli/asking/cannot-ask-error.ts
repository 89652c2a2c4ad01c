import { NamedError } from '../../../../domain/model/named-error.js';

/** The exit code where nobody could be asked. */
export const CANNOT_ASK = 3;

/** No running proxy can be asked, so nothing is known about it. The program exits with 3. */
export class CannotAskError extends NamedError {}
