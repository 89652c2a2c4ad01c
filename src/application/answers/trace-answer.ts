import type { Packet } from '../../domain/trace/packet.js';
import type { Step, Trace, TracedEndpoint } from '../../domain/trace/trace.js';
import type { TraceAnswer } from '../trace/answer.js';
import { family, protocol } from './node-shapes.js';
import { fields, flag, having, list, number, oneOf, optional, text, word } from './shape.js';

const isTrue = optional(oneOf(true));

const step = fields<Step>({
  hook: text,
  where: text,
  rule: text,
  effect: text,
  servicePort: optional(text),
  isForeign: isTrue,
  isUncertain: isTrue,
});

const answer = fields<TraceAnswer>({
  outcome: word<Trace['outcome']>(),
  endpoints: list(fields<TracedEndpoint>({ address: text, port: number, probability: number })),
  sourceRewritten: oneOf<boolean | 'mixed'>(true, false, 'mixed'),
  sticky: flag,
  steps: list(step),
  reason: optional(text),
  stoppedBy: optional(step),
  isUncertain: isTrue,
  packet: fields<Packet>({
    family,
    inputInterface: optional(text),
    source: text,
    destination: text,
    protocol,
    destinationPort: number,
  }),
  remarks: list(text),
});

/** A query that could not be answered. */
export interface FailedTrace {
  readonly error: string;
}

/** The answer to `/debug/trace`. */
export const traceAnswer = having('error', fields<FailedTrace>({ error: text }), answer);
