import { distinctCount, type Endpoint } from '../../domain/model/endpoint.js';
import { fields, number, optional } from '../../domain/shape.js';

/** What identifies an endpoint. */
type Identity = Pick<Endpoint, 'pod' | 'address'> & { readonly port?: number };

/** The endpoints of a Service in one IP family: lists of each port, in which the same endpoint may occur several times. */
export interface FamilyEndpoints {
  /** All that the cluster lists; without ports, so that ports of a Service share a list. */
  readonly known: Iterable<readonly Identity[]>;
  /** Those that traffic of this node may go to. */
  readonly used: Iterable<readonly Identity[]>;
  readonly ejected: Iterable<readonly Identity[]>;
  /** Ready ones that do not answer. */
  readonly unresponsive: Iterable<readonly Identity[]>;
}

/** How many endpoints a Service has, as `countEndpoints` counts them. */
export type EndpointCounts = ReturnType<typeof endpointCounts>;
export const endpointCounts = fields({
  /** Those that traffic of this node may go to. */
  used: number,
  /** All that the cluster lists. */
  known: number,
  /** Ejected ones; missing: none. */
  ejected: optional(number),
  /** Ready ones that do not answer, ejected or not; missing: none. */
  unresponsive: optional(number),
});

/**
 * Counts the endpoints of a Service, each once (`distinctCount`), however many ports and families it serves. A pod has an address in each
 * family; where no pod is known, addresses of both families cannot be matched. So each family is counted for itself, and each number is
 * the larger one of both, not their sum.
 */
export function countEndpoints(families: readonly FamilyEndpoints[]): EndpointCounts {
  const largest = (name: keyof FamilyEndpoints): number =>
    Math.max(0, ...families.map((family) => distinctCount(...family[name])));
  const [used, ejected, unresponsive] = [largest('used'), largest('ejected'), largest('unresponsive')];
  return {
    used,
    // Processes at one address without a pod differ by their ports alone.
    known: Math.max(used, largest('known')),
    ...(ejected > 0 && { ejected }),
    ...(unresponsive > 0 && { unresponsive }),
  };
}
