/** What becomes of the source of traced packets: on terminals and on the page alike. */
export const SOURCE_WORDS = {
  true: 'rewritten to an address of this node',
  false: 'kept',
  mixed: 'rewritten for some endpoints, or depending on the routes of the node',
} as const;

/** From where load-balancer IPs take packets. All others are dropped. */
export function acceptedSourcesText(sourceRanges: readonly string[]): string {
  return `load-balancer IPs accept only ${sourceRanges.join(', ')}`;
}
