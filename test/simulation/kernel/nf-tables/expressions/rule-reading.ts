import { E } from '../../netlink/numbers.js';
import { MessageBuilder } from '../../netlink/message-builder.js';
import { attributesOf, naming, Refusal } from '../../netlink/attributes.js';
import type { Context } from '../context.js';
import { EXPR, LIST_ELEM } from '../numbers.js';
import type { Chain, Rule } from '../objects.js';
import type { Transaction } from '../changes/transaction.js';
import type { Kind } from './kind.js';
import { KINDS } from './kinds.js';
import { Registers } from './registers.js';
import { SentExpression } from './sent-expression.js';

const builder = new MessageBuilder();
/** The kernel's size of a rule has twelve bits; an expression takes about this many bytes of it. */
const [MOST_BYTES, BYTES_EACH] = [4096, 24];

interface Read {
  readonly at: number;
  readonly name: string;
  readonly kind: Kind;
  readonly sent: SentExpression;
}

/** Reads the expressions of a rule that is being added, and takes hold of what they refer to. */
export class RuleReading {
  private readonly read: Read[] = [];
  private readonly registers: Registers;

  constructor(
    private readonly context: Context,
    private readonly transaction: Transaction,
    private readonly chain: Chain,
  ) {
    this.registers = new Registers(context.release >= 613);
  }

  /** Reads the expression whose attribute begins here. @throws Refusal */
  add(bytes: Buffer, at: number): void {
    naming(at, () => {
      const attributes = attributesOf(bytes, at);
      const name = attributes.text(EXPR.NAME);
      if (name === undefined) throw new Refusal(E.EINVAL);
      const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
      if (!kind) throw new Refusal(E.ENOENT);
      const { registers, context, transaction, chain } = this;
      const sent = new SentExpression(attributes.nested(EXPR.DATA), registers, context, transaction, chain);
      kind.check?.(sent);
      this.read.push({ at, name, kind, sent });
    });
  }

  /** When all have been read. @throws Refusal */
  end(): Pick<Rule, 'expressions' | 'dumped'> {
    if (this.read.length * BYTES_EACH >= MOST_BYTES) throw new Refusal(E.EFBIG);
    const expressions = this.read.map(({ at, name, kind, sent }) =>
      naming(at, () => ({ name, ...kind.init(sent) })),
    );
    for (const read of this.read) builder.plainNest(LIST_ELEM, () => put(read));
    return { expressions, dumped: builder.take() };
  }
}

function put({ name, kind, sent: { listed } }: Read): void {
  builder.text(EXPR.NAME, name);
  const putData = (): void => {
    for (const [type, value] of listed) builder.attribute(type, value);
  };
  if (!kind.hasNoData) builder.plainNest(EXPR.DATA, putData);
}
