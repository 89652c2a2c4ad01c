/** Whether the kernel supports nftables mode. */

import type { Operation } from '../../domain/nftables/layout/table.js';
import { NftCommitError, type NftTransport } from './transport.js';

/** What a kernel must support for nftables mode; some have nf_tables without address translation. The last step always fails. */
const OPERATIONS: readonly Operation[] = [
  { op: 'add-table', comment: 'rules for kube-proxy' },
  { op: 'add-chain', chain: { name: 'trial', hook: { type: 'nat', hook: 'prerouting', priority: -100 } } },
  { op: 'delete-chain', chain: 'trial-that-is-none' },
];

/**
 * Checks whether the kernel would accept our kind of table, with a transaction that it must refuse as a whole because
 * of its last step. Nothing changes.
 * @returns what it refuses before that; undefined if it refuses nothing else, or does not permit this process to check
 */
export async function kernelTrial(transport: NftTransport): Promise<string | undefined> {
  try {
    await transport.commit('IPv4', OPERATIONS);
    return undefined;
  } catch (error) {
    if (!(error instanceof NftCommitError) || error.isTemporary) return undefined;
    const refused = error.failures.find(({ operation }) => operation !== OPERATIONS.length - 1);
    if (!refused) return undefined;
    const step = OPERATIONS[refused.operation ?? -1]?.op ?? 'nf_tables';
    return `the kernel refuses ${step}: ${refused.reason}`;
  }
}

/** The oldest kernel that nftables mode supports (docs/spec/nftables.md §1.1). */
const OLDEST = [5, 13] as const;

/**
 * Whether nftables mode may run on a kernel of that release (`6.1.0-18-amd64`). Older kernels would do, but on hosts
 * that old the `nft` tool of other programs cannot cope with our table.
 */
export function kernelSuits(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => parseInt(part, 10));
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
