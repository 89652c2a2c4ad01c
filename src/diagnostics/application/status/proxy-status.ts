import {
  both,
  family,
  fields,
  flag,
  list,
  number,
  oneOf,
  optional,
  text,
  time,
  word,
} from '../../../domain/shape.js';
import type { ResourceKind, SourceState } from '../../../application/ports/cluster-source.js';
import { verdict } from '../../../domain/verdict/verdict.js';
import { NODE_STATES } from '../../../application/status/node-state.js';
import { portProblem } from '../../../application/status/port-status.js';
import { familyHistory } from '../../../application/status/sync-history.js';

/** The versions of a proxy and of what it runs on. */
export const versions = fields({
  /** Of this program. */
  program: text,
  /** The release of Kubernetes whose kube-proxy it stands for. Older proxies do not say. */
  kubernetes: optional(text),
  nodejs: text,
  kernel: text,
});

export type FamilyStatus = ReturnType<typeof familyStatus>;
const familyStatus = fields({
  family,
  inSync: flag,
  /** Services that wait for the next sync. */
  pendingServices: number,
  /** When the oldest change that is not programmed arrived. */
  pendingSinceTime: optional(time),
  /** Service ports, as their Services request. */
  programmed: number,
  failed: list(portProblem),
  /** Programmed, but not as their Services request. */
  degraded: list(portProblem),
  sync: familyHistory,
});

export type WatchStatus = ReturnType<typeof watchStatus>;
const watchStatus = fields({
  kind: word<ResourceKind>(),
  state: word<SourceState>(),
  connected: flag,
  /** Objects known. */
  objectCount: number,
  /** Seconds since the API server last sent anything. */
  idleSeconds: optional(number),
  /** Why the last request failed, until one succeeds. */
  failure: optional(text),
});

/** How the proxy of this node is, as `kubeproxy status` shows it. */
export type ProxyStatus = ReturnType<typeof statusAnswer>;
export const statusAnswer = fields({
  /**
   * Of the proxy and its kernel alone. `degraded`: it serves, but not all that it could, or on old news. `not-serving`: a family
   * was never programmed.
   */
  state: oneOf(...NODE_STATES),
  /** Why it is not ok, the most important first. */
  reasons: list(text),
  /** What it cannot do here although it is asked to, and problems of objects; it is none the worse for it. Older proxies do not say. */
  warnings: optional(list(text)),
  /** The name of the Node object. */
  node: text,
  /** The mode in force. */
  mode: text,
  versions,
  startTime: time,
  /** Of this answer. */
  time,
  /** Everything delivered is programmed, but for what failed. */
  inSync: flag,
  /** Seconds for which the oldest change has waited; 0 when in sync. */
  lagSeconds: number,
  /** What waits, and for what; empty when in sync. */
  pendingReasons: list(text),
  families: list(familyStatus),
  /** How many Services are in each state, and the worst of those that are not ok. They do not change the state of the node. */
  serviceCounts: fields({ ok: number, warning: number, error: number }),
  serviceProblems: list(both(verdict, fields({ service: text }))),
  /** Objects that are ignored, with the reason. */
  ignored: list(text),
  /** The watches at the API server; empty for other sources. */
  watches: list(watchStatus),
  /** The last error of each kind, the newest first; also of what works again by now. */
  lastErrors: list(fields({ time, message: text })),
});

/** Whether everything is programmed. While two answers are the same, the proxy has received nothing and programmed nothing. */
export type SyncState = ReturnType<typeof syncAnswer>;
export const syncAnswer = fields({
  /** Everything delivered has been programmed, and the source is not in the middle of a change of many objects. */
  idle: flag,
  /** Object events since the start. */
  appliedEvents: number,
  /** Changes of what is programmed since the start, as the history counts them. */
  totalChanges: number,
});
