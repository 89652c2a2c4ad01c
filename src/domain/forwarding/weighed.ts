import type { Endpoint } from '../model/endpoint.js';
import type { Service } from '../model/service.js';

/** The endpoints, with the weights that their Service gives them. */
export function weighed(
  endpoints: readonly Endpoint[],
  service: Pick<Service, 'weights'> | undefined,
): readonly Endpoint[] {
  const weights = service?.weights;
  if (!weights) return endpoints;
  return endpoints.map((endpoint) => {
    const weight = Object.hasOwn(weights, endpoint.address) ? weights[endpoint.address] : undefined;
    return weight === undefined || weight === endpoint.weight ? endpoint : { ...endpoint, weight };
  });
}
