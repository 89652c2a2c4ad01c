/** What is measured one after another in one process: the first sync, single changes, and many changes at once. */
export const PHASES = ['first', 'change', 'burst'] as const;
export type Phase = (typeof PHASES)[number];
