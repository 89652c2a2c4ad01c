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
  release: number,
): Buffer {
  const tell = (family: number, put: (builder: MessageBuilder) => void): Buffer =>
    message(to, kind, 0, family, generation, put);
  switch (kind) {
    case MSG.NEWTABLE:
    case MSG.DELTABLE: {
      const table = object as Table;
      return tell(table.family, (builder) => putTable(builder, table, kind === MSG.DELTABLE));
    }
    case MSG.NEWCHAIN:
    case MSG.DELCHAIN: {
      const chain = object as Chain;
      return tell(chain.table.family, (builder) => putChain(builder, chain, kind === MSG.DELCHAIN));
    }
    case MSG.NEWRULE:
    case MSG.DELRULE: {
      const rule = object as Rule;
      return tell(rule.chain.table.family, (builder) => putRule(builder, rule));
    }
    case MSG.NEWSET:
    case MSG.DELSET: {
      const set = object as NftSet;
      return tell(set.table.family, (builder) => putSet(builder, set, release, kind === MSG.DELSET));
    }
    case MSG.NEWOBJ:
    case MSG.DELOBJ: {
      const counter = object as Counter;
      return tell(counter.table.family, (builder) => putCounter(builder, counter, kind === MSG.DELOBJ));
    }
    default: {
      const { set, element } = object as ElementNotice;
      return tell(set.table.family, (builder) =>
        putElements(builder, set, () => putElement(builder, set, element, now)),
      );
    }
  }
}

/** What tells of a transaction as a whole: its number, and who made it. */
export function generationMessage(to: Addressee, generation: number, process: number, name: string): Buffer {
  return message(to, MSG.NEWGEN, 0, 0, generation, (builder) => {
    builder.be32(GEN.ID, generation);
    builder.be32(GEN.PROC_PID, process);
    builder.text(GEN.PROC_NAME, name);
  });
}
