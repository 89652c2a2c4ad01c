/** The `nft` tool could not be used at all, whatever the transaction. Nothing was changed. */
abstract class NftToolError extends Error {
  protected constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** `nft` cannot be started. */
export class NftMissingError extends NftToolError {
  constructor(command: string, cause: unknown) {
    super(`cannot start ${command}: install the package nftables (1.0.1 or later), or put nft into PATH`, {
      cause,
    });
  }
}

/** This `nft` loads the rules of the whole host for each command and may crash on newer ones (docs/spec/nftables.md §1.1). */
export class NftTooOldError extends NftToolError {
  constructor(command: string, version: string) {
    super(`${command} is too old (${version}): nftables 1.0.1 or later is needed`);
  }
}

/** The kernel refuses this process, or another process owns the table. */
export class NftPermissionError extends NftToolError {
  constructor(attempt: string, output: string) {
    super(
      `${attempt}: not permitted: CAP_NET_ADMIN is needed in this network namespace, and no other owner of the table (${output})`,
    );
  }
}

/** Anything else: nft was killed, exceeded its time limit, or failed to list. */
export class NftFailedError extends NftToolError {
  constructor(attempt: string, reason: string, options?: ErrorOptions) {
    super(`${attempt} failed: ${reason}`, options);
  }
}
