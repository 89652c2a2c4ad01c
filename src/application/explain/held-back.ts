/**
 * Why nothing is programmed for a Service without slices while some objects are unreadable.
 * @param unread what could not be read since the start
 */
export function heldBack(unread: readonly string[]): string {
  return `it has no EndpointSlice, and what could not be read may contain one; what is in the kernel stays as it is until everything has been readable (first: ${unread[0]})`;
}
