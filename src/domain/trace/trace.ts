/** What becomes of the packets of a query, with all ends that random choices may lead to. */
export interface Trace {
  readonly outcome: TraceOutcome;
  /** Where they may be sent, sorted by address and port; empty unless the outcome is `forward` or `mixed`. */
  readonly endpoints: readonly TracedEndpoint[];
  /** Whether replies come back to another address than the sender's own. `mixed`: it depends on the endpoint. */
  readonly sourceRewritten: boolean | 'mixed';
  /** Whether the next connection of the same client goes to the same endpoint. */
  readonly sticky: boolean;
  /** The rules that the packet met, in order; where random choices part, the steps of each part follow in turn. */
  readonly steps: readonly Step[];
  /** The packets may fare otherwise; a step says why. */
  readonly isUncertain?: true;
}

/**
 * Sent to an endpoint; answered with an error; lost in silence; or left as it is by all rules. `mixed` only where rules of other
 * programs make it a matter of chance.
 */
export type TraceOutcome = 'forward' | 'refused' | 'dropped' | 'untouched' | 'mixed';

export interface TracedEndpoint {
  readonly address: string;
  readonly port: number;
  /** Between 0 and 1; the sum over all endpoints is 1, but for rounding. */
  readonly probability: number;
}

/** A rule, a set or a virtual server that a packet met, and what that did. */
export interface Step {
  /** Where in the kernel, such as `prerouting` or `output`. */
  readonly hook: string;
  /** In the mode's own words: `ip kube-proxy nat-prerouting`, `nat KUBE-SERVICES`, `ipvs`. */
  readonly where: string;
  /** The rule, as the mode's tool prints it. */
  readonly rule: string;
  /** What it did, for people: `matches; jump KUBE-SVC-X`, `10.244.1.5:8080, 1 of 2`. */
  readonly effect: string;
  /** The service port that the rule belongs to, if it belongs to one. */
  readonly servicePort?: string;
  /** Another program made the rule. */
  readonly isForeign?: true;
  /** It is not known what the rule does, or the rule may be another one by now; the effect says which. */
  readonly isUncertain?: true;
}
