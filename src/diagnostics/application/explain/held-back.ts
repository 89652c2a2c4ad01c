/**
 * Why a Service without slices, but with rules from before, is not programmed while some objects are unreadable.
 * @param unread what could not be read since the start
 */
export function heldBack(unread: readonly string[]): string {
  return `it has no EndpointSlice, and what could not be read may contain one; its rules from before the start stay until everything has been readable (first: ${unread[0]})`;
}
