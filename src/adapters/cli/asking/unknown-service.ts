import type { AboutUnknown } from '../../../application/status/service-row.js';
import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { UnknownName } from '../../../application/status/service-row.js';
import { complain } from '../output/print.js';
import { listServices } from './list-services.js';
import type { RunningProxy } from './running-proxy.js';

/** The answer about a Service, and when it says nothing about it, whether there is no such Service. */
export async function withUnknown<Answer extends object>(
  proxy: RunningProxy,
  service: ServiceKey | undefined,
  answer: Answer,
  saysNothing: boolean,
): Promise<Answer & AboutUnknown> {
  if (service === undefined) return answer;
  if (!saysNothing) return { ...answer, unknown: [] };
  const filter = { names: [service], failing: false, withoutEndpoints: false };
  return { ...answer, unknown: (await listServices(proxy, filter)).unknown };
}

/** Says what is known of names that no known Service has. Returns whether there are any. */
export function complainOf(unknown: readonly UnknownName[] = []): boolean {
  for (const { name, reason } of unknown) complain(`${name}: ${reason}`);
  return unknown.length > 0;
}
