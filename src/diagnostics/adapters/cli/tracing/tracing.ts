import type { ClusterPlace, NamedDestination } from '../../../application/trace/named-destination.js';
import type { KnownPod, NamedPod } from '../../../application/trace/named-pod.js';
import type { TraceAnswer } from '../../../application/trace/answer.js';
import type { TraceQuery } from '../../../domain/trace/query.js';

/** Answers queries, of a running proxy or from manifests. Rejects with an error for people if it cannot. */
export type Tracing = (query: TraceQuery) => Promise<TraceAnswer>;

/** The cluster IPs of the Services that may be meant. */
export type PlacesOf = (destination: NamedDestination) => Promise<readonly ClusterPlace[]>;

/** The pods that may be meant. */
export type PodsOf = (pod: NamedPod) => Promise<readonly KnownPod[]>;
