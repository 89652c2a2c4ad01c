import { packetShape, step, traceFields } from '../../domain/trace/trace.js';
import { fields, having, list, oneOf, optional, text } from '../../../domain/shape.js';

/** The verdicts for the packets of a query, and the followed packet. */
export type TraceAnswer = ReturnType<typeof answer>;
const answer = fields({
  ...traceFields,
  packet: packetShape,
  /** Why packets are rejected or dropped, all or some; for people. */
  reason: optional(text),
  /** The rule of another program that rejects or drops them, or the setting of the kernel, if it is one. */
  stoppedBy: optional(step),
  /** What was assumed or chosen, which endpoints are ejected, and how the replies go; for people. */
  remarks: list(text),
});

/** A query that could not be answered. */
export type FailedTrace = ReturnType<typeof failedTrace>;
const failedTrace = fields({
  error: text,
  /** The proxy does not know a named pod: it is no endpoint. */
  cause: optional(oneOf('UnknownPod')),
});

/** The answer to `/debug/trace`. */
export const traceAnswer = having('error', failedTrace, answer);
