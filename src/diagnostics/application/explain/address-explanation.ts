import { family, protocol, fields, having, list, optional, text } from '../../../domain/shape.js';
import { portStatus } from '../../../application/status/port-status.js';
import { endpointExplanation, serviceExplanation, frontendExplanation } from './explanation.js';

/** Of a service port; `port` is empty for an unnamed one. */
const match = { service: text, port: text, protocol, family };

/** A frontend of a service port. */
export type FrontendMatch = ReturnType<typeof frontendMatch>;
const frontendMatch = fields({
  ...match,
  frontend: frontendExplanation,
  status: portStatus,
  /** Of a load-balancer IP, if not all sources may use it. */
  sourceRanges: optional(list(text)),
});

/** An endpoint of a service port. */
export type EndpointMatch = ReturnType<typeof endpointMatch>;
const endpointMatch = fields({ ...match, endpoint: endpointExplanation });

/** What an address, a port, or both are to the proxy. */
export type AddressExplanation = ReturnType<typeof addressExplanation>;
const addressExplanation = fields({
  /** As it was asked for, canonical: `10.96.0.80:80/TCP`, `10.244.2.11`, `30080`. */
  subject: text,
  /** The frontends that it is. */
  frontends: list(frontendMatch),
  /** The endpoints that it is. */
  endpoints: list(endpointMatch),
  /** What becomes of packets to it, if it is neither. */
  otherwise: optional(text),
});

/** The answer to `/debug/explain`, about a Service or about an address. */
export const explanationAnswer = having('service', serviceExplanation, addressExplanation);
