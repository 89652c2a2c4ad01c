import { grouped } from '../../../domain/model/maps.js';
import type { Step } from './trace.js';

/** A step of a packet, for all endpoints that it may go to. */
export interface FoldedStep {
  /** Of the first endpoint. */
  readonly step: Step;
  /** Those of other endpoints that differ from it in nothing but the endpoint: its address, chance, and names that are made of these. */
  readonly alike: readonly Step[];
}

/** What differs from endpoint to endpoint: names of chains that end in a hash, numbers and addresses. */
const OF_ENDPOINT = /KUBE-[A-Z]+-[A-Z2-7]{16}|[\w.:[\]]*\d[\w.:[\]]*/g;
/** Mode iptables has a chance for each endpoint but the last. */
const CHANCE = / -m statistic --mode random --probability \S+| by chance, 1 in \d+/g;

/** The steps, in order; what endpoints have in common, and what is alike for them, once. */
export function foldSteps(steps: readonly Step[]): readonly FoldedStep[] {
  return [...grouped(steps, shapeOf).values()].map((alike) => {
    const [step, ...others] = new Map(alike.map((one) => [JSON.stringify(one), one])).values();
    return { step: step!, alike: others };
  });
}

/** The same for steps that are alike. Rules of no service port, and those of other programs, are alike only if they are the same. */
function shapeOf(step: Step): string {
  const { hook, where, rule, effect, servicePort, isForeign, isUncertain } = step;
  if (servicePort === undefined || isForeign || isUncertain) return JSON.stringify(step);
  const shapes = [where, rule, effect].map((text) => text.replace(CHANCE, '').replace(OF_ENDPOINT, '#'));
  return JSON.stringify([hook, servicePort, ...shapes]);
}
