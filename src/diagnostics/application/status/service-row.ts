import type { ServiceType } from '../../../domain/model/service.js';
import { both, fields, list, number, optional, text, word } from '../../../domain/shape.js';
import { endpointCounts } from '../../domain/endpoint-counts.js';
import { verdict } from '../../../domain/verdict/verdict.js';

/** One Service in a list, over both families, with its verdict. */
export type ServiceRow = ReturnType<typeof serviceRow>;
const serviceRow = both(
  verdict,
  fields({
    namespace: text,
    name: text,
    /** Missing for a Service that is not served. */
    type: optional(word<ServiceType>()),
    /** `10.96.0.80:80/TCP`, `[fd00::1]:80/TCP`, and `30080/TCP` for a node port; those of the cluster IPs first, those on localhost last. */
    frontends: list(text),
    /** The names of its ports, those that have one; missing: none has. */
    portNames: optional(list(text)),
    endpointCounts,
  }),
);

/** A name that no known Service has. */
export type UnknownName = ReturnType<typeof unknownName>;
export const unknownName = fields({
  /** The requested name. */
  name: text,
  /** What is known about that, and what to do. For people. */
  reason: text,
});

/** Part of an answer about a Service. */
export type AboutUnknown = ReturnType<typeof aboutUnknown>;
export const aboutUnknown = fields({
  /** The Service, if nothing is known of it, and why; missing if all were asked about. */
  unknownNames: optional(list(unknownName)),
});

/** Which Services are listed; all that are served, if nothing is chosen. */
export interface RowFilter {
  readonly namespace?: string;
  /** `NAME`, in any namespace or the one above, or `NAMESPACE/NAME`; empty for all. */
  readonly names: readonly string[];
  /** Only those that are not ok. */
  readonly problems: boolean;
}

/** Which Services are searched for. */
export interface ServiceSearch {
  /** Words of names, ports, types, frontends or endpoints' addresses: every one must occur. Empty: all Services. */
  readonly text: string;
  /** Only those that are not ok. */
  readonly problems: boolean;
  /** The most rows to return. */
  readonly limit: number;
}

/** A Service that was found. */
export type FoundService = ReturnType<typeof foundService>;
const foundService = both(
  serviceRow,
  fields({
    /** The endpoints for which it was found; missing: it was found without them. */
    foundEndpoints: optional(list(text)),
  }),
);

/** The answer to `/debug/search`. */
export type ServiceMatches = ReturnType<typeof searchAnswer>;
export const searchAnswer = fields({
  /** Exact matches first, then problems, the worst first, then by name. */
  services: list(foundService),
  /** How many were found, with those left out because of the limit. */
  total: number,
});

/** The answer of a list. */
export type ServiceList = ReturnType<typeof servicesAnswer>;
export const servicesAnswer = fields({
  /** By namespace and name; those that are not proxied, but requested by name, come last. */
  services: list(serviceRow),
  /** Requested names that no known Service has. */
  unknownNames: list(unknownName),
});
