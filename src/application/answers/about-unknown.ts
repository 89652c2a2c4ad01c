import type { UnknownName } from '../status/service-row.js';
import { unknownName } from './services-answer.js';
import { fields, list, optional } from './shape.js';

/** Part of an answer about a Service. */
export interface AboutUnknown {
  /** The Service, if nothing is known of it, and why; missing if all were asked about. */
  readonly unknown?: readonly UnknownName[];
}

export const aboutUnknown = fields<AboutUnknown>({ unknown: optional(list(unknownName)) });
