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
  type Shape,
} from '../../domain/shape.js';
/** How a list changed. */
export type ListChange = ReturnType<typeof listChange>;
const listChange = fields({
  count: number,
  added: number,
  removed: number,
  /** Members that stay, with another outcome for clients; only of frontends. */
  changed: number,
  /** The first of these: `+10.244.1.5:8080`, `-10.244.1.6:8080`, `10.96.0.80:80 reject → forward`. */
  examples: list(text),
});

const ofEachChange = {
  family,
  /** When the outcome was known. */
  time,
  /** Steps written into the kernel: by the whole sync, which may have changed other service ports too. */
  writtenSteps: number,
  /** Why, if it failed or is degraded. */
  reason: optional(text),
};

/** The outcome for one service port that changed. */
export type ServicePortChange = ReturnType<typeof servicePortChange>;
const servicePortChange = fields({
  ...ofEachChange,
  kind: oneOf('service-port'),
  /** `namespace/name:port`. */
  servicePort: text,
  result: word<'programmed' | 'degraded' | 'failed' | 'removed'>(),
  /** When the first event arrived that its sync programmed. */
  eventTime: time,
  /** When the cause of a changed EndpointSlice happened, if the cluster has it. */
  triggerTime: optional(time),
  /** From that event to the outcome. */
  durationSeconds: number,
  /** Endpoints that traffic of this node may go to. */
  endpointChange: listChange,
  /** Ejected endpoints; missing if they did not change. */
  ejectedChange: optional(listChange),
  frontendChange: listChange,
});

/** What concerned a whole family: a first sync or one after a failure, a failure as a whole, a repair. */
export type FamilyChange = ReturnType<typeof familyChange>;
const familyChange = fields({
  ...ofEachChange,
  kind: oneOf('everything-programmed', 'sync-failed', 'repaired'),
  /** If a sync was made. */
  durationSeconds: optional(number),
});

/** What one sync or repair did, of which a proxy remembers the last thousand. */
export type ChangeEntry = ServicePortChange | FamilyChange;
export const change: Shape<ChangeEntry> = variants('kind', {
  'service-port': servicePortChange,
  'everything-programmed': familyChange,
  'sync-failed': familyChange,
  repaired: familyChange,
});

/** The answer to a question for the history. */
export type History = ReturnType<typeof historyAnswer>;
export const historyAnswer = fields({
  /** The oldest first. */
  changes: list(change),
  /** All changes since the start, also those that are forgotten by now. */
  total: number,
});
