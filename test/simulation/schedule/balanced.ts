import { BALANCING_METHODS, type BalancingMethod } from '../../../src/domain/balancing/balancing.js';
import {
  describe,
  parseDescription,
  type PodDescription,
  type ServiceDescription,
} from '../cluster/service-description.js';
import { Random } from '../world/random.js';
import { MODES, type Mode } from '../world/settings.js';
import type { Schedule, Step } from './schedule.js';

/** In one world in so many, Services ask how endpoints are chosen, and give them weights. */
const ONE_BALANCED_IN = 3;
/** One change in so many is also one of the method, or of a weight. */
const ONE_CHANGE_IN = 3;
/** Undefined: none, which is 1. */
const WEIGHTS = [undefined, 2, 3, 5];
/**
 * What each mode can do so that a check of all endpoints sees it: in nftables mode `maglev-source` leads each client to one of them, in
 * iptables mode a Service that asks for more than `random` is degraded.
 */
const METHODS: Readonly<Record<Mode, readonly BalancingMethod[]>> = {
  nftables: ['random', 'round-robin', 'least-connections', 'maglev'],
  iptables: ['random'],
  ipvs: BALANCING_METHODS,
  userspace: BALANCING_METHODS,
};

/** Steps in which others serve, who do not know weights: there none is 0, so that all lead to the same endpoints. */
const OF_OTHERS = ['kube-proxy', 'go-back', 'former-version', 'former-version-again'];
/** Steps with the description of a Service, and where in their arguments its name is. */
const NAMES: Readonly<Record<string, number>> = { put: 0, 'take-over': 1 };

/** In one world in so many, Services have external addresses and node ports of another one, … */
const ONE_COINCIDING_IN = 4;
/** … if they are of the type that these have in that world. */
const EXPOSED = ['nodeport', 'balancer', 'external'] as const;

/** The number of one that has them from the beginning. */
const TWIN = 90;

/** The same with Services of one type that have the same external addresses and node ports, for some of the seeds. */
export function coinciding({ settings, steps }: Schedule): Schedule {
  const random = new Random(settings.seed).fork().fork().fork().fork();
  // Which of them kube-proxy serves is left to chance, and what former versions left is written down.
  const isPossible = steps.every(({ name }) => !OF_OTHERS.includes(name));
  if (!isPossible || !random.isOneIn(ONE_COINCIDING_IN)) return { settings, steps };
  const type = random.pick(EXPOSED);
  const change = (step: Step): Step =>
    withDescription(step, (_name, service) =>
      service.type === 'headless' || service.type === 'name' ? service : { ...service, type, shared: 1 },
    );
  const [first, ...others] = steps.map(change);
  if (first?.name !== 'put') return { settings, steps };
  const twin = withDescription(first, (_name, service) => ({
    ...service,
    number: TWIN,
    pods: service.pods.map((pod) => ({ ...pod, number: pod.number + 1 })),
  }));
  return { settings, steps: [first, { ...twin, args: [`shop/s${TWIN}`, ...twin.args.slice(1)] }, ...others] };
}

/** The same with another description of the Service, if it is a step with one. */
function withDescription(
  step: Step,
  change: (name: string, service: ServiceDescription) => ServiceDescription,
): Step {
  const at = NAMES[step.name];
  if (at === undefined) return step;
  const [before, name, rest] = [step.args.slice(0, at), step.args[at]!, step.args.slice(at + 1)];
  const described = parseDescription(rest);
  // What is no part of a description stays.
  const others = rest.filter((arg) => !describe(described).includes(arg));
  return { ...step, args: [...before, name, ...describe(change(name, described)), ...others] };
}

type Choice = Pick<ServiceDescription, 'method'> & { readonly weights: Map<string, number | undefined> };

/** In one world in so many, silent endpoints are ejected. */
const ONE_EJECTING_IN = 6;
/** Milliseconds from when an endpoint falls silent. */
const UNTIL_EJECTED = 5_000;

/** The same with silent endpoints that are ejected, for some of the seeds: one falls silent before each time that all is to be quiet. */
export function ejecting({ settings, steps }: Schedule): Schedule {
  const random = new Random(settings.seed).fork().fork();
  const isPossible = settings.mode !== 'userspace' && steps.every(({ name }) => !OF_OTHERS.includes(name));
  if (!isPossible || !random.isOneIn(ONE_EJECTING_IN)) return { settings, steps };
  let later = 0;
  return {
    settings: { ...settings, arguments: [...settings.arguments, '--eject-unresponsive-endpoints'] },
    steps: steps.flatMap((step) => {
      const silence = { at: step.at + later, name: 'silence', args: [] };
      const isSettled = step.name === 'settle';
      if (isSettled) later += UNTIL_EJECTED;
      const moved = { ...step, at: step.at + later };
      return isSettled ? [silence, moved] : [moved];
    }),
  };
}

/**
 * The same with methods of balancing and weights, for some of the seeds. They are drawn from numbers of their own, so that all else in a
 * world is as it would be without them.
 */
export function balanced({ settings, steps }: Schedule): Schedule {
  const random = new Random(settings.seed).fork();
  if (!random.isOneIn(ONE_BALANCED_IN)) return { settings, steps };
  const weights = steps.some(({ name }) => OF_OTHERS.includes(name)) ? WEIGHTS : [...WEIGHTS, 0, 0];
  const modes = MODES.filter(
    (mode) => mode === settings.mode || steps.some(({ args }) => args.includes(mode)),
  );
  const methods = BALANCING_METHODS.filter((method) => modes.every((mode) => METHODS[mode].includes(method)));
  const anyMethod = () => random.pick([undefined, undefined, ...methods]);
  const choices = new Map<string, Choice>();
  const change = (name: string, service: ServiceDescription): ServiceDescription => {
    const known = choices.get(name);
    const former = known ?? { method: anyMethod(), weights: new Map<string, number | undefined>() };
    const method = known && random.isOneIn(ONE_CHANGE_IN) ? anyMethod() : former.method;
    const choice: Choice = { method, weights: former.weights };
    choices.set(name, choice);
    const pods = service.pods.map((pod) => {
      const place = `${pod.isLocal} ${pod.number}`;
      if (!choice.weights.has(place) || random.isOneIn(ONE_CHANGE_IN * 2))
        choice.weights.set(place, random.pick(weights));
      const { weight: _, ...plain } = pod as PodDescription;
      const weight = choice.weights.get(place);
      return weight === undefined ? plain : { ...plain, weight };
    });
    // Session affinity excludes it, with a warning.
    const isExcluded = service.affinity > 0 && method === 'least-connections';
    return { ...service, method: isExcluded ? undefined : method, pods };
  };
  return { settings, steps: steps.map((step) => withDescription(step, change)) };
}
