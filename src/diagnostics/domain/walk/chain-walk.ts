import { withStep, type PacketState, type Place } from './packet-state.js';
import { hostPort } from '../../../domain/net/address.js';

/** Chains call others. No kernel takes as many. */
const MAX_DEPTH = 256;

/** Evaluates chains, whatever their rules are made of. One packet state becomes several where a rule chooses at random. */
export class ChainWalk<C extends PacketState, R extends Place> {
  /**
   * @param meet the results of a rule; if it chooses at random, several, whose probabilities add up to that of the packet state.
   *   Undefined: nothing, as most rules do
   */
  constructor(private readonly meet: (rule: R, state: C) => readonly RuleResult<C, R>[] | undefined) {}

  /**
   * The effect of a base chain, or a built-in one, on a packet.
   * @param policy drops packets without a verdict of a rule; without it they continue
   */
  base(chain: Chain<R>, state: C, policy?: Place): readonly C[] {
    return this.walk(chain, state, 0).map(({ state: after, to }) =>
      policy && to !== 'end'
        ? withStep(dropped(after).state, policy, 'drops it, as no rule decided otherwise')
        : after,
    );
  }

  /** What no rule took returns to the caller. */
  private walk({ rules }: Chain<R>, start: C, depth: number): readonly RuleResult<C, R>[] {
    const left: RuleResult<C, R>[] = [];
    let states: readonly C[] = [start];
    for (const rule of rules) {
      let next: C[] | undefined;
      for (let at = 0; at < states.length; at++) {
        const state = states[at]!;
        const results = this.meet(rule, state);
        if (results) next ??= states.slice(0, at);
        if (!results) next?.push(state);
        else for (const result of results) this.take(rule, result, depth, next!, left);
      }
      states = next ?? states;
      if (states.length === 0) break;
    }
    for (const state of states) left.push({ state, to: 'caller' });
    return left;
  }

  /**
   * Goes where a rule led.
   * @param next gets the states that come to the next rule
   * @param left gets those that leave the chain
   */
  private take(rule: R, result: RuleResult<C, R>, depth: number, next: C[], left: RuleResult<C, R>[]): void {
    const { state, to, effect, isUncertain } = result;
    const met = effect === undefined ? state : withStep(state, rule, effect, isUncertain);
    if (to === 'rule') next.push(met);
    else if (typeof to === 'string') left.push({ state: met, to });
    else if (depth === MAX_DEPTH) {
      const lost = `cannot tell where the ${to.verb} leads; assumed to do nothing`;
      next.push(withStep(state, rule, lost, true));
    } else
      for (const { state: walked, to: end } of this.walk(to.chain, met, depth + 1)) {
        // A jump that led to nothing is no step.
        const isIdle = walked.steps === met.steps && met.steps !== state.steps;
        const after = isIdle ? walked.with({ steps: state.steps }) : walked;
        if (to.verb === 'jump' && end === 'caller') next.push(after);
        else left.push({ state: after, to: end });
      }
  }
}

/** Rules in their order. */
export interface Chain<R extends Place> {
  readonly rules: readonly R[];
}

/** To the rules of another chain, and from its end back to the next rule, or after a goto to where this chain was called. */
export interface Jump<R extends Place> {
  readonly verb: 'jump' | 'goto';
  readonly chain: Chain<R>;
}

/** The effect of a rule on a packet, and where the packet continues: at the next rule, in the calling chain, or nowhere else in this base chain. */
export interface RuleResult<C extends PacketState, R extends Place = never> {
  readonly state: C;
  readonly to: 'rule' | 'caller' | 'end' | Jump<R>;
  /** What the rule did, for people. Missing where it did nothing that could matter to the packet. */
  readonly effect?: string;
  /** It is not known what the rule does. */
  readonly isUncertain?: true;
}

/** The results of rules, with the same texts in every mode. No further rule of the base chain is evaluated. */
export function accepted<C extends PacketState>(state: C): RuleResult<C> {
  return { state, to: 'end', effect: 'accepts it' };
}

/** Dropped without an answer. */
export function dropped<C extends PacketState>(state: C): RuleResult<C> {
  return { state: state.with({ verdict: 'drop' }), to: 'end', effect: 'drops it' };
}

/**
 * The client learns that nothing serves it.
 * @param answer `an error`, `icmp-port-unreachable`
 */
export function rejected<C extends PacketState>(state: C, answer: string): RuleResult<C> {
  return { state: state.with({ verdict: 'reject' }), to: 'end', effect: `answers with ${answer}` };
}

/** To an endpoint. */
export function sent<C extends PacketState>(state: C, destination: string, port: number): RuleResult<C> {
  return {
    state: state.with({ destination, port, isTranslated: true }),
    to: 'end',
    effect: sendsTo(destination, port),
  };
}

/** The effect, in words. */
export function sendsTo(destination: string, port: number): string {
  return `sends it to ${hostPort(destination, port)}`;
}

/** The packet leaves with another source. */
export function sourceRewritten<C extends PacketState>(
  state: C,
  to = 'an address of this node',
): RuleResult<C> {
  return { state: state.with({ isMasqueraded: true }), to: 'end', effect: `rewrites the source to ${to}` };
}

/** Nothing to tell where it has that mark already. */
export function marked<C extends PacketState>(state: C, mark: number): RuleResult<C> {
  if (mark === state.mark) return nextRule(state);
  return { state: state.with({ mark }), to: 'rule', effect: `sets the mark to 0x${mark.toString(16)}` };
}

/** The packet continues as if the rule did not match. */
export function uncertain<C extends PacketState>(state: C, effect: string): RuleResult<C> {
  return { state, to: 'rule', effect, isUncertain: true };
}

/** The rule has nothing to do with the packet, or does nothing that decides about it. */
export function nextRule<C extends PacketState>(state: C): RuleResult<C> {
  return { state, to: 'rule' };
}

/**
 * Probabilities are equal within this. The kernel's match `statistic` keeps the probability of a rule in steps of 2^-31, whatever its
 * size. The share of an endpoint is a product of several and differs by up to about one step from the exact one, also among 100,000 endpoints.
 */
export const PROBABILITY_TOLERANCE = 4 * 2 ** -31;

/** A share of packets, for people: `1 in 3`, or in percent. */
export function shareText(share: number): string {
  const count = Math.round(1 / share);
  if (Math.abs(1 / count - share) <= PROBABILITY_TOLERANCE) return `1 in ${count}`;
  const percent = share * 100;
  return `${percent < 1 ? Number(percent.toPrecision(2)) : percent.toFixed(1)} %`;
}
