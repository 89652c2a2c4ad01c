const WHOLE_NUMBER = /^[1-9][0-9]*$/;

/**
 * Whether a resourceVersion is older than another. They compare as whole numbers of any length since Kubernetes 1.35. Where a
 * server counts in another way nothing is known of their order, and none is older.
 */
export function isOlder(version: string, other: string): boolean {
  if (!WHOLE_NUMBER.test(version) || !WHOLE_NUMBER.test(other)) return false;
  return version.length === other.length ? version < other : version.length < other.length;
}
