import type { MessageBuilder } from '../netlink/message-builder.js';
import type { ElementNotice } from './changes/elements.js';
import { putChain, putCounter, putElement, putElements, putRule, putSet, putTable } from './messages.js';
import { GEN, MSG } from './numbers.js';
import type { Chain, Counter, NftSet, Rule, Table } from './objects.js';
import { message, type Addressee } from './reading/answer-builder.js';
import type { Notice } from './changes/transaction.js';

/** What tells of one thing that a transaction did. */
export function noticeMessage(
  to: Addressee,
  { message: kind, object }: Notice,
  generation: number,
  now: number,
): Buffer {
  switch (kind) {
    case MSG.NEWTABLE:
    case MSG.DELTABLE:
      return message(to, kind, 0, (object as Table).family, generation, (builder) =>
        putTable(builder, object as Table),
      );
    case MSG.NEWCHAIN:
    case MSG.DELCHAIN:
      return ofTable(to, kind, generation, object as Chain, putChain);
    case MSG.NEWRULE:
    case MSG.DELRULE:
      return ofTable(to, kind, generation, { table: (object as Rule).chain.table }, (builder) =>
        putRule(builder, object as Rule),
      );
    case MSG.NEWSET:
    case MSG.DELSET:
      return ofTable(to, kind, generation, object as NftSet, (builder, set) =>
        putSet(builder, set, undefined),
      );
    case MSG.NEWOBJ:
    case MSG.DELOBJ:
      return ofTable(to, kind, generation, object as Counter, putCounter);
    default: {
      const { set, element } = object as ElementNotice;
      return ofTable(to, kind, generation, set, (builder) =>
        putElements(builder, set, () => putElement(builder, set, element, now)),
      );
    }
  }
}

function ofTable<T extends { readonly table: Table }>(
  to: Addressee,
  kind: number,
  generation: number,
  object: T,
  put: (builder: MessageBuilder, object: T) => void,
): Buffer {
  return message(to, kind, 0, object.table.family, generation, (builder) => put(builder, object));
}

/** What tells of a transaction as a whole: its number, and who made it. */
export function generationMessage(to: Addressee, generation: number, process: number, name: string): Buffer {
  return message(to, MSG.NEWGEN, 0, 0, generation, (builder) => {
    builder.be32(GEN.ID, generation);
    builder.be32(GEN.PROC_PID, process);
    builder.text(GEN.PROC_NAME, name);
  });
}
