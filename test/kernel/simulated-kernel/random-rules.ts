import type { MessageBuilder } from '../../simulation/kernel/netlink/message-builder.js';
import {
  DATA,
  EXPR,
  FAMILY,
  LIST_ELEM,
  VERDICT,
  VERDICT_CODE,
} from '../../simulation/kernel/nf-tables/numbers.js';
import type { Random } from '../../simulation/world/random.js';

type Put = (builder: MessageBuilder) => unknown;
type Write = () => void;

/** Chains that rules may lead to. */
export const CHAINS = ['a', 'b', 'c', 'd', 'e'];

/** Writes random parts of rules, some of which are wrong. */
export class RandomRules {
  constructor(
    private readonly random: Random,
    private readonly builder: MessageBuilder,
  ) {}

  /** Parts of rules, each of expressions that belong together. */
  parts(family: number): readonly Write[] {
    const { random, builder } = this;
    const load: Write = () => this.expression('meta', () => builder.be32(1, 1).be32(2, 3));
    const [length, offset] = family === FAMILY.IP6 ? [16, 24] : [4, 16];
    const address: Write = () =>
      this.expression('payload', () => builder.be32(1, 1).be32(2, 1).be32(3, offset).be32(4, length));
    const jump: Write = () =>
      this.expression('immediate', () => {
        builder.be32(1, 0);
        this.verdict(2);
      });
    const lookUp =
      (set: string, dreg: number | undefined, key: Write): Write =>
      () => {
        key();
        this.expression('lookup', () => {
          builder.text(1, set).be32(2, 1);
          if (dreg !== undefined) builder.be32(3, dreg);
          if (random.isOneIn(15)) builder.be32(5, random.pick([0, 1, 2]));
        });
      };
    const natFamily = random.isOneIn(10) ? FAMILY.IP6 : family === FAMILY.IP6 ? FAMILY.IP6 : FAMILY.IP;
    return [
      jump,
      jump,
      () => {
        load();
        this.expression('cmp', () => {
          builder.be32(1, 1).be32(2, random.isOneIn(15) ? 9 : 0);
          this.value(3, hostWord(7));
        });
      },
      () => {
        load();
        this.expression('bitwise', () => {
          builder.be32(1, 1).be32(2, 1).be32(3, 4);
          this.value(4, random.isOneIn(15) ? Buffer.alloc(3) : hostWord(0xff));
          if (!random.isOneIn(15)) this.value(5, hostWord(0));
        });
        this.expression('meta', () => builder.be32(2, 3).be32(3, 1));
      },
      lookUp('marks', undefined, load),
      lookUp('verdicts', 0, load),
      lookUp('more', random.isOneIn(5) ? 1 : 0, load),
      lookUp('values', 1, () => {
        load();
        this.expression('meta', () => builder.be32(1, 9).be32(2, 16));
      }),
      lookUp(random.isOneIn(3) ? 'none' : 'marks', undefined, load),
      () => {
        address();
        const port = length === 16 ? 2 : 9;
        this.expression('immediate', () => {
          builder.be32(1, port);
          this.value(2, Buffer.of(0, 80));
        });
        this.expression('nat', () => {
          builder
            .be32(1, random.pick([0, 1]))
            .be32(2, natFamily)
            .be32(3, 1)
            .be32(5, port);
          if (random.isOneIn(4)) builder.be32(7, random.pick([4, 0x100]));
        });
      },
      () => this.expression('masq', () => (random.isOneIn(2) ? builder.be32(1, 0x10) : undefined)),
      () => this.expression('reject', () => builder.be32(1, random.isOneIn(6) ? 7 : 0).u8(2, 3)),
      () => {
        this.expression('fib', () =>
          builder
            .be32(1, 1)
            .be32(2, 3)
            .be32(3, random.isOneIn(8) ? 3 : 2),
        );
      },
      () =>
        this.expression('ct', () =>
          builder.be32(1, random.isOneIn(15) ? 30 : 1).be32(2, random.isOneIn(15) ? 8 : 0),
        ),
      () =>
        this.expression('numgen', () =>
          builder.be32(1, 1).be32(2, random.between(0, 3)).be32(3, 1).be32(4, 0),
        ),
      () => this.expression('counter', () => undefined),
      () => this.expression(random.isOneIn(3) ? 'nothing' : 'notrack', () => undefined),
      () => this.expression('objref', () => builder.be32(1, 1).text(2, random.pick(['hits', 'misses']))),
      () =>
        this.expression('byteorder', () => builder.be32(1, 1).be32(2, 1).be32(3, 1).be32(4, 4).be32(5, 4)),
      () => {
        load();
        this.expression('dynset', () => {
          builder
            .text(1, random.pick(['clients', 'clients', 'marks', 'verdicts']))
            .be32(3, random.isOneIn(5) ? 0 : 1)
            .be32(4, 1);
          if (!random.isOneIn(6)) builder.be64(6, 60_000);
        });
      },
      () =>
        this.expression('cmp', () => {
          builder.be32(1, 2).be32(2, 0);
          this.value(3, hostWord(7));
        }),
    ];
  }

  private anyVerdict(): Put {
    const { random } = this;
    const code = random.pick(Object.values(VERDICT_CODE).filter((value) => value !== VERDICT_CODE.QUEUE));
    const leads = random.isOneIn(3) ? VERDICT_CODE.GOTO : VERDICT_CODE.JUMP;
    const chain = random.isOneIn(15) ? random.pick(['none', 'filter-input']) : random.pick(CHAINS);
    return random.isOneIn(4)
      ? (builder) => builder.be32(VERDICT.CODE, code === leads || code < -2 ? 1 : code)
      : (builder) => builder.be32(VERDICT.CODE, leads).text(VERDICT.CHAIN, chain);
  }

  /** One, by its name; `put` writes its attributes. */
  expression(name: string, put: Put): void {
    const { builder } = this;
    builder.nest(LIST_ELEM, () => {
      builder.text(EXPR.NAME, name);
      builder.nest(EXPR.DATA, () => put(builder));
    });
  }

  /** An attribute that is a value. */
  value(type: number, bytes: Buffer): void {
    this.builder.nest(type, () => this.builder.attribute(DATA.VALUE, bytes));
  }

  /** An attribute that is a verdict. */
  verdict(type: number): void {
    const { builder } = this;
    const put = this.anyVerdict();
    builder.nest(type, () => builder.nest(DATA.VERDICT, () => put(builder)));
  }
}

/** Four bytes in the byte order of the machine. */
export function hostWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
