import type { Frontend } from '../../../domain/forwarding/forwarding-entry.js';
import type { FrontendVerdict } from '../../../domain/verdict/judge-port.js';
import { verdict } from '../../../domain/verdict/verdict.js';
import {
  family,
  protocol,
  fields,
  flag,
  list,
  number,
  optional,
  text,
  time,
  word,
  having,
  both,
} from '../../../domain/shape.js';
import { healthCheckState } from '../../../application/health/service-health-checks.js';
import { portStatus } from '../../../application/status/port-status.js';
import { familyHistory } from '../../../application/status/sync-history.js';
import type { TraceOutcome } from '../../domain/trace/trace.js';

/** Packets that another program's rules or the kernel's settings reject or drop, always or at random. */
export type Obstacle = ReturnType<typeof obstacle>;
const obstacle = fields({
  /** As `kubeproxy trace` takes them. */
  from: text,
  to: text,
  outcome: word<TraceOutcome>(),
  reason: text,
});

/** What packets to the frontends of a Service meet in the kernel besides the proxy's own rules. */
export type KernelWalk = ReturnType<typeof kernelWalk>;
export const kernelWalk = fields({
  obstacles: list(obstacle),
  /** Why not all could be followed, for people. */
  incompleteReason: optional(text),
});

/** How this node gets to an endpoint, tried at the moment. */
export type ProbedEndpoint = ReturnType<typeof probedEndpoint>;
const probedEndpoint = fields({
  /** `10.244.1.5:8080`. */
  endpoint: text,
  protocol,
  /** Why it cannot be reached, for people; missing if it can, or if that is not known. */
  problem: optional(text),
  /** The route, the entry of the neighbour, and the connection, for people. */
  facts: list(text),
});

export type ProbedEndpoints = ReturnType<typeof probedEndpoints>;
export const probedEndpoints = fields({
  endpoints: list(probedEndpoint),
  /** How many more there are. */
  omitted: number,
});

/** A frontend, what clients outside this node get there, and why. `conflict`: they get what another Service offers there. */
export type FrontendExplanation = ReturnType<typeof frontendExplanation>;
export const frontendExplanation = both(
  verdict,
  fields({
    kind: word<Frontend['kind']>(),
    /** Missing for a node port. */
    address: optional(text),
    port: number,
    policy: word<Frontend['policy']>(),
    outcome: word<FrontendVerdict['outcome']>(),
  }),
);

export type EndpointExplanation = ReturnType<typeof endpointExplanation>;
export const endpointExplanation = fields({
  address: text,
  port: number,
  /** As in `Endpoint`. */
  pod: optional(text),
  nodeName: optional(text),
  zone: optional(text),
  local: flag,
  ready: flag,
  serving: flag,
  terminating: flag,
  /** Since when it is known to terminate; missing if it does not, or that is not known. */
  terminatingSinceTime: optional(time),
  zoneHints: list(text),
  nodeHints: list(text),
  /** Its part of new connections as compared with others; missing: 1. */
  weight: optional(number),
  /** How many of how many slots it has, where not all endpoints have equal chances at random. */
  share: optional(fields({ slots: number, totalSlots: number })),
  /** Whether any frontend may lead to it. */
  used: flag,
  /** Connections to it that got no answer; missing where connections are not counted. */
  unansweredConnections: optional(number),
  /** Connections from this node that are open. Missing: not counted, or of no importance. */
  openConnections: optional(number),
  /** It is ready, and its last connections, three or more, got no answer. */
  unresponsive: flag,
  /** It gets no new connections for a while, because it did not answer. */
  ejected: flag,
  /** Why it is not used although it is ready. */
  reason: optional(text),
});

export type PortExplanation = ReturnType<typeof portExplanation>;
const portExplanation = fields({
  /** Empty for an unnamed port. */
  portName: text,
  protocol,
  status: portStatus,
  frontends: list(frontendExplanation),
  endpoints: list(endpointExplanation),
  /** The worst first. */
  verdicts: list(verdict),
  /** Seconds that a client stays with its endpoint; 0 without session affinity. */
  affinitySeconds: number,
  /** How endpoints are chosen, where not at random with equal chances. */
  balancing: optional(text),
  /** Sources that may use the load-balancer IPs; empty when all may. */
  sourceRanges: list(text),
});

export type FamilyExplanation = ReturnType<typeof familyExplanation>;
const familyExplanation = fields({
  family,
  /** A change of it is not in the kernel yet. */
  pending: flag,
  /** Seconds since the oldest change of the family arrived that is not in the kernel yet, while a change of it is not. */
  pendingSeconds: optional(number),
  ports: list(portExplanation),
  /** Why it has no ports here. */
  absence: optional(verdict),
  healthCheck: optional(healthCheckState),
  sync: familyHistory,
});

/** The verdict on a Service, and the details behind it. */
export type Explanation = ReturnType<typeof serviceExplanation>;
export const serviceExplanation = fields({
  /** `namespace/name`. */
  service: text,
  /** The worst of its ports and objects. */
  verdict,
  /** Whether this proxy serves such a Service. */
  known: flag,
  /** What is ignored of the Service's objects. */
  objects: list(verdict),
  /** EndpointSlices that may be meant for it; missing: none, or it has some. */
  candidates: optional(list(text)),
  /** Why connections without an answer are not counted, for people; missing: they are. */
  uncountedReason: optional(text),
  families: list(familyExplanation),
  /** The verdicts of the kernel for packets to it; missing if not checked. */
  kernelPath: optional(kernelWalk),
  /** Missing unless requested. */
  probe: optional(probedEndpoints),
});

/** Of a service port; `port` is empty for an unnamed one. */
const match = { service: text, portName: text, protocol, family };

/** A frontend of a service port. */
export type FrontendMatch = ReturnType<typeof frontendMatch>;
const frontendMatch = both(
  frontendExplanation,
  fields({
    ...match,
    status: portStatus,
    /** Of a load-balancer IP, if not all sources may use it. */
    sourceRanges: optional(list(text)),
  }),
);

/** An endpoint of a service port. */
export type EndpointMatch = ReturnType<typeof endpointMatch>;
const endpointMatch = both(endpointExplanation, fields(match));

/** What an address, a port, or both are to the proxy. */
export type AddressExplanation = ReturnType<typeof addressExplanation>;
const addressExplanation = fields({
  /** The requested subject, canonical: `10.96.0.80:80/TCP`, `10.244.2.11`, `30080`. */
  subject: text,
  /** The frontends that it is. */
  frontends: list(frontendMatch),
  /** The endpoints that it is. */
  endpoints: list(endpointMatch),
  /** The verdict for packets to it, if it is neither. */
  otherwise: optional(text),
});

/** The answer to `/debug/explain`, about a Service or about an address. */
export const explanationAnswer = having('service', serviceExplanation, addressExplanation);
