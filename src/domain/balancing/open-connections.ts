import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import { weightOf } from './balancing.js';

/** What endpoints get of new connections, by `ip:port`: above 0, as compared with each other. */
export type EffectiveWeights = ReadonlyMap<string, number>;

/** The effective weights of the endpoints of a service port whose open connections count. Undefined: their weights. */
export type WeightLookup = (port: ServicePortKey) => EffectiveWeights | undefined;

/** The greatest effective weight as a whole number. Slots are not more exact. */
const WHOLE = 1_024;
/** What a weight is multiplied or divided by in a step, at most: connections are counted a second later than they are sent. */
const LONGEST_STEP = 2;
/** Steps by less than a twentieth, of all endpoints, are not worth writing. */
const LEAST_STEP = 1.05;

/**
 * The next effective weights of endpoints: a step towards weight / (open connections + 1). A whole step would overshoot, because the
 * connections of the next second follow from it, so that they would swing for ever: it goes half of the way, as factors.
 * A new endpoint begins with the mean of the others, not with that of one without connections, which would get nearly everything.
 * @param former of the step before; missing: by weight
 * @param open connections to an endpoint
 * @returns undefined if those are good enough
 */
export function nextWeights(
  endpoints: readonly Endpoint[],
  former: EffectiveWeights | undefined,
  open: (place: string) => number,
): EffectiveWeights | undefined {
  const present = presentWeights(endpoints, former);
  const ratios = endpoints.map(
    (endpoint, index) => weightOf(endpoint) / (open(endpointPlace(endpoint)) + 1) / present[index]!,
  );
  const usual = geometricMean(ratios);
  const steps = ratios.map((ratio) =>
    Math.min(LONGEST_STEP, Math.max(1 / LONGEST_STEP, Math.sqrt(ratio / usual))),
  );
  if (steps.every((step) => step < LEAST_STEP && step > 1 / LEAST_STEP)) return undefined;
  return new Map(
    endpoints.map((endpoint, index) => [endpointPlace(endpoint), present[index]! * steps[index]!]),
  );
}

/** The endpoints with their effective weights, as whole numbers. */
export function withEffectiveWeights(
  endpoints: readonly Endpoint[],
  weights: EffectiveWeights | undefined,
): readonly Endpoint[] {
  if (!weights) return endpoints;
  const present = presentWeights(endpoints, weights);
  const greatest = present.reduce((most, weight) => Math.max(most, weight), 0);
  return endpoints.map((endpoint, index) => ({
    ...endpoint,
    effectiveWeight: Math.max(1, Math.round((WHOLE * present[index]!) / greatest)),
  }));
}

/** Of each endpoint, also those that are not known yet. */
function presentWeights(
  endpoints: readonly Endpoint[],
  known: EffectiveWeights | undefined,
): readonly number[] {
  const weights = endpoints.map((endpoint) => known?.get(endpointPlace(endpoint)));
  const mean = geometricMean(
    weights.flatMap((weight, index) => (weight === undefined ? [] : [weight / weightOf(endpoints[index]!)])),
  );
  return endpoints.map((endpoint, index) => weights[index] ?? mean * weightOf(endpoint));
}

/** 1 for none. */
function geometricMean(numbers: readonly number[]): number {
  if (numbers.length === 0) return 1;
  return Math.exp(numbers.reduce((sum, number) => sum + Math.log(number), 0) / numbers.length);
}
