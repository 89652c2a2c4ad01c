import type { Hook } from '../../../../domain/nftables/layout/table.js';

/** In the order of their numbers. */
export const HOOKS: readonly Hook['hook'][] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];
