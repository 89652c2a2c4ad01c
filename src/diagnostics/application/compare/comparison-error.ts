import { NamedError } from '../../../domain/model/named-error.js';

/** Two sides cannot be compared; the message says why, and what to do instead. */
export class ComparisonError extends NamedError {
  /** @param side what has rules of mode userspace, for people */
  static userspace(side: string): ComparisonError {
    return new ComparisonError(
      `${side} cannot be compared: in mode userspace the rules lead connections to ports of a process, which alone knows the endpoints; "kubeproxy trace" follows packets through that process, "kubeproxy compare" compares plans of other modes`,
    );
  }
}
