import type { TraceAnswer } from '../../../application/trace/answer.js';
import type { TraceQuery } from '../../../domain/trace/query.js';

/** Answers queries, of a running proxy or from manifests. Rejects with an error for people if it cannot. */
export type Tracing = (query: TraceQuery) => Promise<TraceAnswer>;
