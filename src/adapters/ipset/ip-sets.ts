import type { IpSet, IpSetHeader } from '../../domain/ipset/ip-set.js';

/** One line for `ipset restore`. */
export type IpSetStep =
  | { readonly kind: 'create'; readonly set: IpSetHeader }
  | { readonly kind: 'add' | 'delete'; readonly set: string; readonly member: string }
  | { readonly kind: 'destroy'; readonly set: string };

/** How a step went: undefined when it was done, otherwise why it was refused. */
export type IpSetOutcome = Error | undefined;

/**
 * The IP sets of this network namespace. It knows nothing of services. Calls may overlap. A call rejects with an
 * IpSetToolError when the tool could not be used at all; nothing was changed then.
 */
export interface IpSets {
  /**
   * Of the named sets those that exist, with their members in canonical form: addresses as `src/domain/net` writes
   * them, a network of full length without it, protocols in lower case. A set of a type that is not ours, or with
   * other options than ours (range, maxelem), is listed as `foreign`, with what `ipset save` says of it.
   */
  read(names: ReadonlySet<string>, signal?: AbortSignal): Promise<ReadIpSets>;

  /**
   * Does the steps in their order, in one `ipset restore` when none is refused; a step that is refused does not keep
   * the others from being done. Outcomes stand where the steps stand. To create what is there, with the same type and
   * options, to add a member that is there, to delete one that is not, and to destroy what is not there, is no error.
   */
  restore(steps: readonly IpSetStep[]): Promise<readonly IpSetOutcome[]>;

  /** Ends what runs; later calls fail. Idempotent. */
  close(): void;
}

export interface ReadIpSets {
  readonly sets: readonly IpSet[];
  /** Sets that have one of the names, but cannot be used: name and description. */
  readonly foreign: readonly { readonly name: string; readonly description: string }[];
}
