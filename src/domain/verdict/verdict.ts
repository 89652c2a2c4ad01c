/** The verdict on a Service, a service port or a frontend: the same for every command, view, event, metric and log line. */

import { fields, oneOf, optional, text, word } from '../shape.js';

/**
 * `error`: clients are rejected or lose connections, or nothing is programmed. `warning`: it works with limits. `ok`: also where a
 * limit is intended, as of a traffic policy.
 */
export type VerdictState = 'ok' | 'warning' | 'error';

/** From the mildest. */
export const VERDICT_STATES = ['ok', 'warning', 'error'] as const satisfies readonly VerdictState[];

/**
 * The reason of a verdict for programs, by the reason's place: `node` depends on this node, `cluster` is the same on every node
 * of the cluster, as it follows from the objects alone.
 */
export const CAUSES = {
  ProgrammingFailed: 'node',
  NotSupportedByMode: 'node',
  FrontendConflict: 'node',
  LimitedProgramming: 'node',
  Pending: 'node',
  UnreadObjects: 'node',
  FamilyNotServed: 'node',
  ForwardingDisabled: 'node',
  BridgeNotFiltered: 'node',
  BlockedByOtherRules: 'node',
  EndpointNotReachable: 'node',
  UnresponsiveEndpoint: 'node',
  NoLocalEndpoint: 'node',
  OtherZones: 'node',
  AnnotationIgnored: 'node',
  FieldIgnored: 'node',
  Unknown: 'node',
  InvalidObject: 'cluster',
  NoEndpointSlice: 'cluster',
  OtherFamily: 'cluster',
  NoSuchPort: 'cluster',
  OtherProtocol: 'cluster',
  NoSuchTargetPort: 'cluster',
  NoPodSelected: 'cluster',
  NoEndpoint: 'cluster',
  AllTerminating: 'cluster',
  NoReadyEndpoint: 'cluster',
  OnlyTerminating: 'cluster',
  Headless: 'cluster',
  ExternalName: 'cluster',
  OtherProxy: 'cluster',
  NoClusterIP: 'cluster',
  NotFound: 'cluster',
} as const;

export type Cause = keyof typeof CAUSES;

export interface Verdict {
  readonly state: VerdictState;
  /** Missing for plain ok. */
  readonly cause?: Cause | undefined;
  /** One sentence without a full stop: `no pod has the labels app=webb`. */
  readonly reason: string;
  /** One imperative sentence, if possible with a command that can be pasted; missing for ok. */
  readonly nextStep?: string | undefined;
}

export const verdict = fields({
  state: oneOf(...VERDICT_STATES),
  cause: optional(word<Cause>()),
  reason: text,
  nextStep: optional(text),
});

/** Compares for sorting, the worst first. */
export function worstFirst(one: Pick<Verdict, 'state'>, other: Pick<Verdict, 'state'>): number {
  return VERDICT_STATES.indexOf(other.state) - VERDICT_STATES.indexOf(one.state);
}

/** The first of the worst of them; undefined of none. */
export function worstOf<Judged extends Pick<Verdict, 'state'>>(
  verdicts: Iterable<Judged>,
): Judged | undefined {
  let worst: Judged | undefined;
  for (const one of verdicts) if (!worst || worstFirst(one, worst) < 0) worst = one;
  return worst;
}
