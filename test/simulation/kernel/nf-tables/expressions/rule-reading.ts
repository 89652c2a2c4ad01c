import { ENOENT, EFBIG, EINVAL } from '../../netlink/numbers.js';
import { MessageBuilder } from '../../netlink/message-builder.js';
import { attributesOf, Refused } from '../attributes.js';
import type { Context } from '../context.js';
import { EXPR, LIST_ELEM } from '../numbers.js';
import type { Chain, Expression, Rule } from '../objects.js';
import type { Transaction } from '../changes/transaction.js';
import { KINDS } from './kinds.js';
import { Registers } from './registers.js';
import { SentExpression } from './sent-expression.js';

const builder = new MessageBuilder();
/** The kernel's size of a rule has twelve bits; an expression takes about this many bytes of it. */
const [MOST_BYTES, BYTES_EACH] = [4096, 24];

/** Reads the expressions of a rule that is being added, and takes hold of what they refer to. */
export class RuleReading {
  private readonly expressions: Expression[] = [];
  private readonly registers: Registers;

  constructor(
    private readonly context: Context,
    private readonly transaction: Transaction,
    private readonly chain: Chain,
  ) {
    this.registers = new Registers(context.release >= 613);
    builder.take();
  }

  /** Reads the expression whose attribute begins here. @throws Refused */
  add(bytes: Buffer, at: number): void {
    try {
      this.expressions.push(this.read(bytes, at));
    } catch (error) {
      throw error instanceof Refused ? new Refused(error.errno, at) : error;
    }
  }

  end(): Pick<Rule, 'expressions' | 'dumped'> {
    const { expressions } = this;
    if (expressions.length * BYTES_EACH >= MOST_BYTES) throw new Refused(EFBIG);
    return { expressions, dumped: builder.take() };
  }

  private read(bytes: Buffer, at: number): Expression {
    const attributes = attributesOf(bytes, at);
    const name = attributes.text(EXPR.NAME);
    if (name === undefined) throw new Refused(EINVAL);
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
    if (!kind) throw new Refused(ENOENT);
    const { registers, context, transaction, chain } = this;
    const sent = new SentExpression(attributes.nested(EXPR.DATA), registers, context, transaction, chain);
    const meaning = kind(sent);
    builder.nest(
      LIST_ELEM,
      () => {
        builder.text(EXPR.NAME, name);
        builder.nest(
          EXPR.DATA,
          () => {
            for (const [type, value] of sent.listed) builder.attribute(type, value);
          },
          0,
        );
      },
      0,
    );
    return { name, ...meaning };
  }
}
