import type { TraceOutcome } from '../../../domain/trace/trace.js';
import { protocol, fields, list, number, optional, text, word } from '../../../../domain/shape.js';
/** Packets that another program's rules or the kernel's settings refuse or drop, always or by chance. */
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
  incomplete: optional(text),
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
  probed: list(probedEndpoint),
  /** How many more there are. */
  left: number,
});
