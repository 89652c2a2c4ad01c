import type { FamilyChange, History, ListChange, ServicePortChange } from '../status/change-entry.js';
import { family } from './node-shapes.js';
import { fields, list, number, oneOf, optional, text, time, variants, word } from './shape.js';

const listChange = fields<ListChange>({
  now: number,
  added: number,
  removed: number,
  turned: number,
  some: list(text),
});

const familyChange = fields<FamilyChange>({
  family,
  at: time,
  steps: number,
  what: oneOf('everything-programmed', 'sync-failed', 'repaired'),
  reason: optional(text),
  took: optional(number),
});

/** The answer to `/debug/history`. */
export const historyAnswer = fields<History>({
  changes: list(
    variants('what', {
      'service-port': fields<ServicePortChange>({
        family,
        at: time,
        steps: number,
        what: oneOf('service-port'),
        servicePort: text,
        result: word<ServicePortChange['result']>(),
        reason: optional(text),
        event: time,
        trigger: optional(time),
        took: number,
        endpoints: listChange,
        frontends: listChange,
      }),
      'everything-programmed': familyChange,
      'sync-failed': familyChange,
      repaired: familyChange,
    }),
  ),
  total: number,
});
