import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { ConflictingFrontend } from '../../domain/verdict/conflicts.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import {
  fields,
  list,
  number,
  oneOf,
  optional,
  text,
  time,
  variants,
  type Shape,
} from '../../domain/shape.js';

const conflictingFrontend: Shape<ConflictingFrontend> = fields({
  frontend: text,
  owner: text,
  portName: optional(text),
});

export type ProgrammedStatus = ReturnType<typeof programmed>;
const programmed = fields({ state: oneOf('programmed'), sinceTime: time });

/** It is programmed, but not as its Service requests. */
export type DegradedStatus = ReturnType<typeof degraded>;
const degraded = fields({
  state: oneOf('degraded'),
  /** Without an interruption. */
  sinceTime: time,
  /** For people. */
  reason: text,
  /** Its frontends that another service port holds; missing without any. */
  conflicts: optional(list(conflictingFrontend)),
  /** In which other ways it is not programmed as requested; missing: in none. */
  limits: optional(list(text)),
  /** `node`: the node lacks something. Missing: its Service requests what it cannot have. */
  limitedBy: optional(oneOf('node')),
});

export type FailedStatus = ReturnType<typeof failed>;
const failed = fields({
  state: oneOf('failed'),
  /** The first of the consecutive failures. */
  sinceTime: time,
  reason: text,
  attempts: number,
  /** As in `ServiceFailure`. */
  limitedBy: optional(oneOf('mode', 'node')),
});

/** The outcome of the last attempt to program a service port, if there was one. */
export type PortStatus = ReturnType<typeof portStatus>;
export const portStatus = variants('state', {
  pending: fields({ state: oneOf('pending') }),
  programmed,
  degraded,
  failed,
});

/** A service port that failed to be programmed, or that is degraded. */
export type PortProblem = ReturnType<typeof portProblem>;
export const portProblem = fields({
  /** Inside of the program its key, in answers `namespace/name:port`. */
  servicePort: text,
  reason: text,
  sinceTime: time,
  /** Its frontends that another service port holds; missing without any. */
  conflicts: optional(list(conflictingFrontend)),
  /** As in its status. */
  limitedBy: optional(oneOf('mode', 'node')),
});

/** Whether the proxy or the kernel of this node is the cause, and not what its Service requests. */
export function isNodeProblem(
  state: 'failed' | 'degraded',
  { limitedBy }: Pick<PortProblem, 'limitedBy'>,
): boolean {
  return state === 'failed' ? limitedBy !== 'mode' : limitedBy === 'node';
}

/** When an endpoint was ejected and when it is tried again, in milliseconds since the epoch. */
export interface EjectionTimes {
  readonly since: number;
  readonly until: number;
}

/** The times of an ejected endpoint; undefined if it is not ejected. */
export type EjectionLookup = (port: FamilyPortKey, place: string) => EjectionTimes | undefined;

/** The endpoints that are ejected at present. */
export interface EjectionStatus {
  readonly ejectionTimes: EjectionLookup;
  /** The service ports that have any, as last programmed. */
  portsWithEjections(): Iterable<ForwardingEntry>;
}

/** Where the proxy itself listens for the node port of a service port: `127.0.0.1:30080`, `[::1]:30080`; undefined if it does not. */
export type LocalhostLookup = (family: IpFamily, key: ServicePortKey) => string | undefined;
