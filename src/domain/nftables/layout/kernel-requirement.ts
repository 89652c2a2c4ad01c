/** The oldest kernel that mode nftables supports (docs/spec/nftables.md §1.1). */
const OLDEST = [5, 13] as const;

/**
 * Whether mode nftables may run on a kernel of that release (`6.1.0-18-amd64`). Older kernels would do, but on hosts
 * that old the `nft` tool of other programs cannot cope with our table.
 */
export function kernelSuits(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => parseInt(part, 10));
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
