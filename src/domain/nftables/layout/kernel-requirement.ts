/** The oldest kernel of the nftables mode (docs/spec/nftables.md §1.1). */
const OLDEST = [5, 13] as const;

/**
 * Whether nftables mode may run on a kernel of that release (`6.1.0-18-amd64`). The kernel alone would do with less; but
 * on hosts this old the `nft` tool of other programs cannot live beside a table of ours.
 */
export function kernelSuits(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => parseInt(part, 10));
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
