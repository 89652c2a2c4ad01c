import { NamedError } from '../../model/named-error.js';

/** Text that cannot be written into a rule as what it claims to be. The value is quoted and shortened. */
export class UnsafeRuleTextError extends NamedError {
  constructor(
    readonly what: string,
    readonly text: string,
  ) {
    const shown = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
    super(`${what} ${shown} cannot be written to iptables`);
  }
}
