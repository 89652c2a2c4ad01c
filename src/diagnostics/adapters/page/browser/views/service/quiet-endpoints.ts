import type { EndpointReport } from '../../../../../domain/traffic.js';
import { inOrder, type Arrivals } from './endpoint-order.js';

/** Endpoints in order, those with connections apart from those without: of thousands, most have none at a time. */
export function divided(
  endpoints: readonly EndpointReport[],
  arrivals: Arrivals,
): { readonly busy: readonly EndpointReport[]; readonly quiet: readonly EndpointReport[] } {
  const all = inOrder(endpoints, arrivals);
  return { busy: all.filter((one) => !isQuiet(one)), quiet: all.filter(isQuiet) };
}

function isQuiet({ open, newPerSecond, unanswered, silent }: EndpointReport): boolean {
  return !silent && open + newPerSecond + unanswered === 0;
}
