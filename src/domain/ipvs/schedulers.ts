import type { BalancingMethod } from '../balancing/balancing.js';
import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { HASH_SOURCE_PORT, type VirtualServer } from './virtual-server.js';

/** A scheduler, with its flags. */
export type Scheduler = Pick<VirtualServer, 'scheduler' | 'flags'>;

const MAGLEV: Scheduler = { scheduler: 'mh', flags: HASH_SOURCE_PORT };
const MAGLEV_BY_SOURCE: Scheduler = { scheduler: 'mh', flags: 0 };

/** Those that look at weights, in place of those that do not. */
const WEIGHTED: Readonly<Record<string, string>> = { rr: 'wrr', lc: 'wlc' };

/**
 * The schedulers that do what a Service asks for, the best first; none if it does not ask. The one that it names comes before those that
 * do what `kube-proxy-ts/load-balancing` and weights ask for.
 * @param usual the scheduler of Services that do not ask
 */
export function schedulersFor(
  { scheduler, balancing }: Pick<ForwardingEntry, 'scheduler' | 'balancing'>,
  usual: string,
): readonly Scheduler[] {
  const named = scheduler === undefined ? [] : [scheduler === 'mh' ? MAGLEV : plain(scheduler)];
  return balancing ? [...named, ...suitable(balancing.method, balancing.isWeighted, usual)] : named;
}

function suitable(method: BalancingMethod, isWeighted: boolean, usual: string): readonly Scheduler[] {
  switch (method) {
    case 'maglev':
      return [MAGLEV];
    case 'maglev-source':
      return [MAGLEV_BY_SOURCE, plain('sh')];
    case 'round-robin':
      return [plain(isWeighted ? 'wrr' : 'rr')];
    case 'random':
      return Object.hasOwn(WEIGHTED, usual) ? [plain(WEIGHTED[usual]!)] : [];
  }
}

function plain(scheduler: string): Scheduler {
  return { scheduler, flags: 0 };
}
