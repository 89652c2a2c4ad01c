import {
  family,
  fields,
  list,
  number,
  oneOf,
  optional,
  text,
  time,
  variants,
  word,
} from '../../domain/shape.js';
/** How a list changed. */
export type ListChange = ReturnType<typeof listChange>;
const listChange = fields({
  now: number,
  added: number,
  removed: number,
  /** Members that stay, with another outcome for clients; only of frontends. */
  turned: number,
  /** The first of these: `+10.244.1.5:8080`, `-10.244.1.6:8080`, `10.96.0.80:80 reject → forward`. */
  some: list(text),
});

const change = {
  family,
  /** When the outcome was known. */
  at: time,
  /** Steps written into the kernel: by the whole sync, which may have changed other service ports too. */
  steps: number,
  /** Why, if it failed or is degraded. */
  reason: optional(text),
};

/** The outcome for one service port that changed. */
export type ServicePortChange = ReturnType<typeof servicePortChange>;
const servicePortChange = fields({
  ...change,
  what: oneOf('service-port'),
  /** Its key. */
  servicePort: text,
  result: word<'programmed' | 'degraded' | 'failed' | 'removed'>(),
  /** When the first event arrived that its sync programmed. */
  event: time,
  /** When the cause of a changed EndpointSlice happened, if the cluster says so. */
  trigger: optional(time),
  /** Milliseconds from that event to the outcome. */
  took: number,
  /** Endpoints that traffic of this node may go to. */
  endpoints: listChange,
  /** Ejected endpoints; missing if they did not change. */
  aside: optional(listChange),
  frontends: listChange,
});

/** What concerned a whole family: a first sync or one after a failure, a failure as a whole, a repair. */
export type FamilyChange = ReturnType<typeof familyChange>;
const familyChange = fields({
  ...change,
  what: oneOf('everything-programmed', 'sync-failed', 'repaired'),
  /** Milliseconds, if a sync was made. */
  took: optional(number),
});

/** What one sync or repair did, of which a proxy remembers the last thousand. */
export type ChangeEntry = ServicePortChange | FamilyChange;

/** The answer to a question for the history. */
export type History = ReturnType<typeof historyAnswer>;
export const historyAnswer = fields({
  /** The oldest first. */
  changes: list(
    variants('what', {
      'service-port': servicePortChange,
      'everything-programmed': familyChange,
      'sync-failed': familyChange,
      repaired: familyChange,
    }),
  ),
  /** All changes since the start, also those that are forgotten by now. */
  total: number,
});
