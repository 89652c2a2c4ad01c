import type { Frontend } from '../../../domain/forwarding/forwarding-entry.js';
import type { UnservedKind } from '../../../domain/model/service.js';
import { family, protocol, fields, flag, list, number, optional, text, word } from '../../../domain/shape.js';
import { healthCheckState } from '../../../application/health/service-health-checks.js';
import { portStatus } from '../../../application/status/port-status.js';
import { familyHistory } from '../../../application/status/sync-history.js';
import { kernelWalk, probedEndpoints } from './checks/results.js';
import { finding } from './findings.js';

/**
 * Why the proxy does not serve a Service. `invalid`: its object breaks a rule, which `problems` name. `absent`: there is none.
 * `undelivered`: the API server did not say whether there is one of the kinds that it does not deliver.
 */
export type Unserved = ReturnType<typeof unserved>;
/** The text is for people. */
const unserved = fields({ kind: word<UnservedKind | 'invalid' | 'absent' | 'undelivered'>(), text });

/** Why a Service has no service port in a family. `held-back`: its endpoints may be in what could not be read. */
export type Absence = ReturnType<typeof absence>;
/** The text is for people. */
const absence = fields({ kind: word<'no-cluster-ip' | 'not-processed' | 'held-back'>(), text });

export type FrontendExplanation = ReturnType<typeof frontendExplanation>;
export const frontendExplanation = fields({
  kind: word<Frontend['kind']>(),
  /** Missing for a node port. */
  address: optional(text),
  port: number,
  policy: word<Frontend['policy']>(),
  /** What clients outside this node get. `held`: another Service holds it, and they get what that one offers. */
  outcome: word<Frontend['outcome'] | 'held'>(),
  /** Why they get that. */
  reason: text,
});

export type EndpointExplanation = ReturnType<typeof endpointExplanation>;
export const endpointExplanation = fields({
  address: text,
  port: number,
  isLocal: flag,
  ready: flag,
  serving: flag,
  terminating: flag,
  zoneHints: list(text),
  nodeHints: list(text),
  /** Its part of new connections as compared with others; missing: 1. */
  weight: optional(number),
  /** How many of how many slots it has, where not all endpoints have equal chances at random. */
  share: optional(fields({ slots: number, of: number })),
  /** Whether any frontend may lead to it. */
  used: flag,
  /** Why it is not used although it is ready. */
  reason: optional(text),
});

export type PortExplanation = ReturnType<typeof portExplanation>;
const portExplanation = fields({
  /** Empty for an unnamed port. */
  port: text,
  protocol,
  status: portStatus,
  frontends: list(frontendExplanation),
  endpoints: list(endpointExplanation),
  /** What stops or limits its traffic, the most important first. */
  findings: list(finding),
  /** Seconds that a client stays with its endpoint; 0 without session affinity. */
  affinitySeconds: number,
  /** How endpoints are chosen, where not at random with equal chances. */
  choice: optional(text),
  /** Sources that may use the load-balancer IPs; empty when all may. */
  sourceRanges: list(text),
});

export type FamilyExplanation = ReturnType<typeof familyExplanation>;
const familyExplanation = fields({
  family,
  /** A change of it is not in the kernel yet. */
  waiting: flag,
  /** Seconds since the oldest change of the family arrived that is not in the kernel yet, while a change of it is not. */
  waitingSeconds: optional(number),
  ports: list(portExplanation),
  /** Why nothing is to be programmed for it, if it has no ports here. */
  absence: optional(absence),
  healthCheck: optional(healthCheckState),
  sync: familyHistory,
});

/** What the proxy does for a Service, and why. */
export type Explanation = ReturnType<typeof serviceExplanation>;
export const serviceExplanation = fields({
  /** `namespace/name`. */
  service: text,
  /** Whether this proxy serves such a Service. */
  known: flag,
  /** Why it does not. Missing if it does. */
  unserved: optional(unserved),
  /** What is wrong with the Service's objects in the cluster. */
  problems: list(text),
  families: list(familyExplanation),
  /** What packets to it meet in the kernel; missing where nobody looked. */
  kernel: optional(kernelWalk),
  /** Missing unless it was asked for. */
  probe: optional(probedEndpoints),
});

/** Whether traffic of the Service reaches endpoints as its objects ask for. */
export function isSound({ known, problems, families, kernel, probe }: Explanation): boolean {
  const findings = families.flatMap(({ ports }) => ports.flatMap((port) => port.findings));
  const isHeldBack = families.some(({ absence }) => absence?.kind === 'held-back');
  const isReached = !kernel?.obstacles.length && !probe?.probed.some(({ problem }) => problem !== undefined);
  return (
    isReached && known && problems.length === 0 && !isHeldBack && !findings.some(({ isFault }) => isFault)
  );
}
