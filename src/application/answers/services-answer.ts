import type { ServiceList, ServiceRow, UnknownName } from '../status/service-row.js';
import { fields, list, number, optional, text, word } from './shape.js';

/** A name that no known Service has. */
export const unknownName = fields<UnknownName>({ name: text, reason: text });

/** The answer to `/debug/service-list`. */
export const servicesAnswer = fields<ServiceList>({
  services: list(
    fields<ServiceRow>({
      namespace: text,
      name: text,
      type: optional(word<NonNullable<ServiceRow['type']>>()),
      frontends: list(text),
      endpoints: fields({ used: number, known: number }),
      state: word<ServiceRow['state']>(),
      reason: optional(text),
    }),
  ),
  unknown: list(unknownName),
});
