import type { Frontend } from '../../domain/forwarding/forwarding-entry.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type {
  DegradedStatus,
  FailedStatus,
  LostFrontend,
  ProgrammedStatus,
} from '../status/service-statuses.js';
import type { FamilyHistory } from '../status/sync-history.js';
import type { EndpointExplanation, FrontendExplanation, PortStatus } from '../explain/explanation.js';
import { fields, flag, list, number, oneOf, optional, text, time, variants, word } from './shape.js';

/** Shapes of what several answers have in common. */
export const family = word<IpFamily>();

export const protocol = word<Protocol>();

export const familyHistory = fields<FamilyHistory>({
  lastSuccess: optional(fields({ at: time, seconds: number, full: flag, written: number })),
  lastFailure: optional(fields({ at: time, reason: text })),
  failures: number,
  unverified: optional(fields({ since: time, reason: text })),
  drift: fields({ found: number, repaired: number, last: optional(time) }),
});

export const portStatus = variants('state', {
  pending: fields<Extract<PortStatus, { readonly state: 'pending' }>>({ state: oneOf('pending') }),
  programmed: fields<ProgrammedStatus>({ state: oneOf('programmed'), since: time }),
  degraded: fields<DegradedStatus>({
    state: oneOf('degraded'),
    since: time,
    reason: text,
    lost: optional(list(fields<LostFrontend>({ frontend: text, holder: text }))),
  }),
  failed: fields<FailedStatus>({ state: oneOf('failed'), since: time, reason: text, attempts: number }),
});

export const frontend = fields<FrontendExplanation>({
  kind: word<Frontend['kind']>(),
  address: optional(text),
  port: number,
  policy: word<Frontend['policy']>(),
  outcome: word<Frontend['outcome']>(),
  reason: text,
});

export const endpoint = fields<EndpointExplanation>({
  address: text,
  port: number,
  isLocal: flag,
  ready: flag,
  serving: flag,
  terminating: flag,
  zoneHints: list(text),
  nodeHints: list(text),
  used: flag,
  reason: optional(text),
});
