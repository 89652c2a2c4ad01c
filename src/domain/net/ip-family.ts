/** The two address families. Every table, tracker and rule set exists once per family (docs/spec/model.md). */
export type IpFamily = 'IPv4' | 'IPv6';

/** Both. */
export const IP_FAMILIES: readonly IpFamily[] = ['IPv4', 'IPv6'];
