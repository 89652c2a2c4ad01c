/** How something is, for its `Mark`: as it should be, on its way or not quite, not as it should be, not in use. */
export type MarkKind = 'good' | 'waiting' | 'bad' | 'off';
