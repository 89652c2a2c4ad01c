import type { Packet } from '../../domain/trace/packet.js';
import type { Step, Trace, TracedEndpoint } from '../../domain/trace/trace.js';
import { family, protocol } from '../answers/node-shapes.js';
import {
  both,
  fields,
  fieldsOf,
  flag,
  having,
  list,
  number,
  oneOf,
  optional,
  text,
  word,
} from '../answers/shape.js';

const isTrue = optional(oneOf(true));

const step = fieldsOf<Step>({
  hook: text,
  where: text,
  rule: text,
  effect: text,
  servicePort: optional(text),
  isForeign: isTrue,
  isUncertain: isTrue,
});

/** What becomes of the packets of a query, and which packet was followed. */
export interface TraceAnswer extends Trace, ReturnType<typeof particulars> {}
const particulars = fields({
  packet: fieldsOf<Packet>({
    family,
    inputInterface: optional(text),
    source: text,
    destination: text,
    protocol,
    destinationPort: number,
  }),
  /** Why packets are refused or dropped, all or some; for people. */
  reason: optional(text),
  /** The rule of another program that refuses or drops them, if it is one. */
  stoppedBy: optional(step),
  /** What was assumed or chosen, and how the replies go; for people. */
  remarks: list(text),
});

const trace = fieldsOf<Trace>({
  outcome: word<Trace['outcome']>(),
  endpoints: list(fieldsOf<TracedEndpoint>({ address: text, port: number, probability: number })),
  sourceRewritten: oneOf<boolean | 'mixed'>(true, false, 'mixed'),
  sticky: flag,
  steps: list(step),
  isUncertain: isTrue,
});

/** A query that could not be answered. */
export type FailedTrace = ReturnType<typeof failedTrace>;
const failedTrace = fields({ error: text });

/** The answer to `/debug/trace`. */
export const traceAnswer = having('error', failedTrace, both(trace, particulars));
