import type { BackoffTimes } from './backoff.js';

/** Milliseconds. */
export interface ApiTimeouts {
  /** Until the connection stands, TLS included. */
  readonly connect: number;
  /** From then until the answer begins. */
  readonly response: number;
  /** Nothing of the answer's body came; a watch has its own limit. */
  readonly silence: number;
  /** An idle connection is probed by TCP after that. */
  readonly keepAlive: number;
  /** Tokens, certificates and kubeconfig are read again after that. */
  readonly credentials: number;
  /** An exec plugin that gave no credentials within that is killed. */
  readonly plugin: number;
}

export const defaultApiTimeouts: ApiTimeouts = {
  connect: 10_000,
  response: 60_000,
  silence: 60_000,
  keepAlive: 30_000,
  credentials: 60_000,
  plugin: 30_000,
};

/** Milliseconds, unless said otherwise. */
export interface ReflectorTimings {
  /** Objects in a page of a list. */
  readonly pageSize: number;
  /** A watch is asked to last a random time between these; whole seconds reach the server, at least one. */
  readonly watchMinimum: number;
  readonly watchMaximum: number;
  /** A watch on which nothing came for a random time between these may hang: bookmarks come about once a minute. */
  readonly silenceMinimum: number;
  readonly silenceMaximum: number;
  /** A watch that ended earlier than this without a word counts as a failure. */
  readonly watchTooShort: number;
  readonly backoff: BackoffTimes;
  /** A resource that the server does not have is asked for again after that. */
  readonly absentRetry: number;
  /** A lasting failure is logged once in that time. */
  readonly warnEvery: number;
}

export const defaultReflectorTimings: ReflectorTimings = {
  pageSize: 500,
  watchMinimum: 300_000,
  watchMaximum: 600_000,
  silenceMinimum: 120_000,
  silenceMaximum: 150_000,
  watchTooShort: 1_000,
  backoff: { initial: 800, maximum: 30_000, resetAfter: 120_000 },
  absentRetry: 300_000,
  warnEvery: 30_000,
};
