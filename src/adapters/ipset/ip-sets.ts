/** The port to IP sets, and its errors. */

import type { IpSet, IpSetHeader } from '../../domain/ipvs/ip-set.js';
import { NamedError } from '../../domain/model/named-error.js';
import { ToolError } from '../tool-programs.js';

/** One line for `ipset restore`. */
export type IpSetStep =
  | { readonly kind: 'create'; readonly set: IpSetHeader }
  | { readonly kind: 'add' | 'delete'; readonly set: string; readonly member: string }
  | { readonly kind: 'destroy'; readonly set: string };

/** Undefined when a step was done, otherwise why it was refused. */
export type IpSetOutcome = Error | undefined;

/**
 * The IP sets of this network namespace. Calls may overlap. A call rejects with an ToolError when the tool is unusable;
 * nothing was changed then.
 */
export interface IpSets {
  /**
   * Those of the named sets that exist, with their members in canonical form: addresses as in `src/domain/net`, a network of
   * full length without its length, protocols in lower case. A set with another type or other options (range, maxelem) than
   * ours is `foreign`, described as `ipset save` prints it.
   */
  read(names: ReadonlySet<string>, signal?: AbortSignal): Promise<ReadIpSets>;

  /**
   * Takes the steps in order, in one `ipset restore` when none is refused. A refused step does not stop the others. It is no
   * error to create a set that is there with the same type and options, to add a member that is there, to delete one that is
   * not, or to destroy a set that is not there.
   * @returns the outcome of each step
   */
  restore(steps: readonly IpSetStep[]): Promise<readonly IpSetOutcome[]>;

  /** Stops running tools; later calls fail. Idempotent. */
  close(): void;
}

export interface ReadIpSets {
  readonly sets: readonly IpSet[];
  /** Sets that have one of the names, but another type or other options: name and description. */
  readonly foreign: readonly { readonly name: string; readonly description: string }[];
}

/** The kernel has no IP sets, so none can be left. */
export class IpSetUnsupportedError extends ToolError {
  constructor(attempt: string, message: string) {
    super(`${attempt} failed: the kernel has no IP sets (module ip_set): ${message}`);
  }
}

/** One step was refused. */
export class IpSetRejectedError extends NamedError {
  constructor(
    readonly line: string,
    readonly reason: string,
  ) {
    super(`ipset rejected "${line}": ${reason}`);
  }
}
