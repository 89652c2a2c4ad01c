import {
  fields,
  flag,
  list,
  number,
  oneOf,
  optional,
  text,
  word,
  type Checked,
} from '../../../domain/shape.js';

/**
 * Sent to an endpoint; answered with an error; lost in silence; or left as it is by all rules. `mixed` only where rules of other
 * programs make it a matter of chance.
 */
export type TraceOutcome = 'forward' | 'refused' | 'dropped' | 'untouched' | 'mixed';

export type TracedEndpoint = ReturnType<typeof tracedEndpoint>;
const tracedEndpoint = fields({
  address: text,
  port: number,
  /** Between 0 and 1; the sum over all endpoints is 1, but for rounding. */
  probability: number,
});

const isTrue = optional(oneOf(true));

/** A rule, a set or a virtual server that a packet met, and what that did. */
export type Step = ReturnType<typeof step>;
export const step = fields({
  /** Where in the kernel, such as `prerouting` or `output`. */
  hook: text,
  /** In the mode's own words: `ip kube-proxy nat-prerouting`, `nat KUBE-SERVICES`, `ipvs`. */
  where: text,
  /** The rule, as the mode's tool prints it. */
  rule: text,
  /** What it did, for people: `matches; jump KUBE-SVC-X`, `10.244.1.5:8080, 1 of 2`. */
  effect: text,
  /** The service port that the rule belongs to, if it belongs to one. */
  servicePort: optional(text),
  /** Another program made the rule. */
  isForeign: isTrue,
  /** It is not known what the rule does, or the rule may be another one by now; the effect says which. */
  isUncertain: isTrue,
});

/** What becomes of the packets of a query, with all ends that random choices may lead to. */
export type Trace = Checked<typeof traceFields>;
export const traceFields = {
  outcome: word<TraceOutcome>(),
  /** Where they may be sent, sorted by address and port; empty unless the outcome is `forward` or `mixed`. */
  endpoints: list(tracedEndpoint),
  /** Whether replies come back to another address than the sender's own. `mixed`: it depends on the endpoint. */
  sourceRewritten: oneOf<boolean | 'mixed'>(true, false, 'mixed'),
  /** Whether the next connection of the same client goes to the same endpoint. */
  sticky: flag,
  /** The rules that the packet met, in order; where random choices part, the steps of each part follow in turn. */
  steps: list(step),
  /** The packets may fare otherwise; a step says why. */
  isUncertain: isTrue,
};
