import type { BaseChain, Expression } from '../objects.js';
import type { SentExpression } from './sent-expression.js';

export type Meaning = Omit<Expression, 'name'>;

/** How a kind of expression is judged. Both throw Refusal. */
export interface Kind {
  /** What the kernel looks at when it reads the expression, before it begins with the first one of the rule. */
  readonly check?: (sent: SentExpression) => void;
  /** The rest; notes what is to be listed. */
  readonly init: (sent: SentExpression) => Meaning;
  /** It is listed by its name alone. */
  readonly hasNoData?: true;
}

export const HOOK = { PREROUTING: 0, INPUT: 1, FORWARD: 2, OUTPUT: 3, POSTROUTING: 4 } as const;

/** Only in chains of type nat at these hooks. */
export const onlyNat =
  (...hooks: readonly number[]) =>
  ({ type, hook }: BaseChain): boolean =>
    type === 'nat' && hooks.includes(hook);

/** Only in chains at these hooks. */
export const onlyHooks =
  (...hooks: readonly number[]) =>
  ({ hook }: BaseChain): boolean =>
    hooks.includes(hook);

/** Of which nothing is checked: they are listed as they were sent. */
export function asSent(sent: SentExpression): Meaning {
  sent.keepAll();
  return {};
}
