import { hostPort } from '../../../domain/net/address.js';
import type { Course, Place } from './course.js';

/** Rules in their order. */
export interface Chain<R extends Place> {
  readonly rules: readonly R[];
}

/** To the rules of another chain, and from its end back to the next rule, or after a goto to where this chain was called. */
export interface Jump<R extends Place> {
  readonly verb: 'jump' | 'goto';
  readonly chain: Chain<R>;
}

/** What a rule made of a packet, and where that goes on: at the next rule, in the calling chain, or nowhere else in this base chain. */
export interface Turn<C extends Course, R extends Place = never> {
  readonly course: C;
  readonly to: 'rule' | 'caller' | 'end' | Jump<R>;
  /** What the rule did, for people. Missing where it did nothing that could matter to the packet. */
  readonly effect?: string;
  /** It is not known what the rule does. */
  readonly isUncertain?: true;
}

/** The turns that rules of every mode lead to, in the same words: this one, that no further rule of the base chain is met. */
export function accepted<C extends Course>(course: C): Turn<C> {
  return { course, to: 'end', effect: 'accepts it' };
}

/** Lost in silence. */
export function dropped<C extends Course>(course: C): Turn<C> {
  return { course: course.with({ verdict: 'dropped' }), to: 'end', effect: 'drops it' };
}

/**
 * The client learns that nothing serves it.
 * @param answer `an error`, `icmp-port-unreachable`
 */
export function refused<C extends Course>(course: C, answer: string): Turn<C> {
  return { course: course.with({ verdict: 'refused' }), to: 'end', effect: `answers with ${answer}` };
}

/** To an endpoint. */
export function sent<C extends Course>(course: C, destination: string, port: number): Turn<C> {
  return {
    course: course.with({ destination, port, isTranslated: true }),
    to: 'end',
    effect: sendsTo(destination, port),
  };
}

/** The effect, in words. */
export function sendsTo(destination: string, port: number): string {
  return `sends it to ${hostPort(destination, port)}`;
}

/** The packet leaves with another source. */
export function sourceRewritten<C extends Course>(course: C, to = 'an address of this node'): Turn<C> {
  return { course: course.with({ isMasqueraded: true }), to: 'end', effect: `rewrites the source to ${to}` };
}

/** Nothing to tell where it has that mark already. */
export function marked<C extends Course>(course: C, mark: number): Turn<C> {
  if (mark === course.mark) return nextRule(course);
  return { course: course.with({ mark }), to: 'rule', effect: `sets the mark to 0x${mark.toString(16)}` };
}

/** The packet goes on as if the rule did not match. */
export function uncertain<C extends Course>(course: C, effect: string): Turn<C> {
  return { course, to: 'rule', effect, isUncertain: true };
}

/** The rule has nothing to do with the packet, or does nothing that decides about it. */
export function nextRule<C extends Course>(course: C): Turn<C> {
  return { course, to: 'rule' };
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
