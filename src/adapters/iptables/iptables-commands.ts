import type { IpFamily } from '../../domain/net/ip-family.js';
import type { SavedTables } from '../../domain/iptables/text/saved-tables.js';
import type { TableName } from '../../domain/iptables/table.js';

/** Which of the kernel's two filters the tools speak to. */
export type IptablesVariant = 'nft' | 'legacy';

/** How a restore went. */
export interface RestoreOutcome {
  /** How long another program held the xtables lock before we had it; undefined when that could not be measured. */
  readonly lockWaitSeconds: number | undefined;
  /** With iptables-nft, the generations of nf_tables that it made, as far as the kernel tells. */
  readonly generations?: readonly number[] | undefined;
}

/**
 * iptables as the driver needs it: the tools of the host, or tables in memory. It knows nothing of services. One call at a time
 * for each family.
 */
export interface IptablesCommands {
  /**
   * How many chains one commit should hold at most. iptables-nft needs time that grows with their square; iptables-legacy
   * replaces the whole table with each commit, so it should be one.
   */
  chainsPerCommit(): Promise<number>;

  /** `iptables-save`: all tables. Rejects with the signal's reason soon after it is aborted. */
  save(family: IpFamily, signal?: AbortSignal): Promise<SavedTables>;

  /**
   * `iptables-restore --noflush`: each commit in the input is applied as a whole or not at all.
   * Rejects with RestoreRefusedError when a commit was refused, and those before it stand; with an ToolError
   * when the tool could not be used.
   */
  restore(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome>;

  /** `iptables -S CHAIN`: the rules of a chain as the tool prints them, or undefined when there is no such chain. */
  listChain(family: IpFamily, table: TableName, chain: string): Promise<readonly string[] | undefined>;

  /** Ends what runs; later calls fail. Idempotent. */
  close(): void;
}
