import { fields, flag, number, optional, text } from '../../domain/shapes/shape.js';

/** The state of one Service's health check. */
export type HealthCheckState = ReturnType<typeof healthCheckState>;
export const healthCheckState = fields({
  port: number,
  localEndpoints: number,
  listening: flag,
  /** Why it does not listen. */
  problem: optional(text),
});
