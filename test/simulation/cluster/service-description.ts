import type { BalancingMethod } from '../../../src/domain/balancing/balancing.js';
import type { Plan } from '../schedule/plan.js';
import type { Random } from '../world/random.js';

export const TYPES = ['cluster', 'nodeport', 'balancer', 'external', 'headless', 'name'] as const;

/** How an endpoint is: ready; not ready; terminating, still serving or not any more. */
export type Condition = 'ready' | 'unready' | 'draining' | 'dead';

export interface PodDescription {
  readonly number: number;
  readonly isLocal: boolean;
  readonly condition: Condition;
  /** The zone for which it is hinted. */
  readonly zone?: 'a' | 'b';
  /** What `kube-proxy-ts/weight` of its Service says. */
  readonly weight?: number;
}

/** A Service and its endpoints in a few words, from which its objects follow. */
export interface ServiceDescription {
  /** From which its addresses and node ports follow. */
  readonly number: number;
  readonly type: (typeof TYPES)[number];
  /** `http:80/TCP`, without a name `80/TCP`. */
  readonly ports: readonly string[];
  readonly pods: readonly PodDescription[];
  readonly externalLocal: boolean;
  readonly internalLocal: boolean;
  /** Seconds; 0 without affinity. */
  readonly affinity: number;
  /** How many source ranges it has. */
  readonly ranges: number;
  /** Over how many slices its endpoints are spread. */
  readonly slices: number;
  /** From which its external addresses and node ports follow, instead: the number of another Service, which may have the same. */
  readonly shared?: number | undefined;
  /** Of `kube-proxy-ts/load-balancing`. */
  readonly method?: BalancingMethod | undefined;
}

const MOST_RANGES = 3;
const POLICIES = ['Cluster', 'Cluster', 'Cluster', 'Local'];
/** Seconds. */
const AFFINITIES = [1, 30, 10_800];
const LETTERS: Readonly<Record<Condition, string>> = { ready: '', unready: 'n', draining: 't', dead: 'd' };

/** As arguments of a step. */
export function describe(service: ServiceDescription): readonly string[] {
  const {
    number,
    type,
    ports,
    pods,
    externalLocal,
    internalLocal,
    affinity,
    ranges,
    slices,
    method,
    shared,
  } = service;
  const pod = ({ number: name, isLocal, condition, zone, weight }: PodDescription) =>
    `${isLocal ? '' : 'o'}${name}${LETTERS[condition]}${zone ? `z${zone}` : ''}${weight === undefined ? '' : `w${weight}`}`;
  return [
    `number=${number}`,
    `type=${type}`,
    `ports=${ports.join(',')}`,
    `pods=${pods.map(pod).join(',')}`,
    ...(externalLocal ? ['external=Local'] : []),
    ...(internalLocal ? ['internal=Local'] : []),
    ...(affinity > 0 ? [`affinity=${affinity}`] : []),
    ...(ranges > 0 ? [`ranges=${ranges}`] : []),
    ...(slices === 1 ? [] : [`slices=${slices}`]),
    ...(shared === undefined ? [] : [`shared=${shared}`]),
    ...(method === undefined ? [] : [`method=${method}`]),
  ];
}

/** From arguments of a step. */
export function parseDescription(args: readonly string[]): ServiceDescription {
  const given = new Map(args.map((arg) => arg.split('=') as [string, string | undefined]));
  const list = (name: string) => (given.get(name) ?? '').split(',').filter((item) => item !== '');
  return {
    number: Number(given.get('number')),
    type: given.get('type') as ServiceDescription['type'],
    ports: list('ports'),
    pods: list('pods').map(parsePod),
    externalLocal: given.get('external') === 'Local',
    internalLocal: given.get('internal') === 'Local',
    affinity: Number(given.get('affinity') ?? 0),
    // Schedules of before name one without its number.
    ranges: given.has('ranges') ? Number(given.get('ranges') ?? 1) : 0,
    slices: Number(given.get('slices') ?? 1),
    ...(given.has('shared') && { shared: Number(given.get('shared')) }),
    ...(given.has('method') && { method: given.get('method') as BalancingMethod }),
  };
}

function parsePod(text: string): PodDescription {
  const [, other, number, letter = '', zone, weight] = /^(o?)(\d+)([ntd]?)(?:z([ab]))?(?:w(\d+))?$/.exec(
    text,
  )!;
  const condition = (Object.keys(LETTERS) as Condition[]).find((name) => LETTERS[name] === letter)!;
  return {
    number: Number(number),
    isLocal: other === '',
    condition,
    ...(zone && { zone: zone as 'a' | 'b' }),
    ...(weight !== undefined && { weight: Number(weight) }),
  };
}

/** A new Service. */
export function randomService(plan: Plan, number: number): ServiceDescription {
  const { random, settings } = plan;
  const isUsual = !random.isOneIn(12);
  return {
    number,
    type: isUsual ? plan.pick('type', TYPES.slice(0, 4)) : random.pick(TYPES.slice(4)),
    ports: random.pick([
      ['80/TCP'],
      ['80/TCP'],
      ['80/TCP'],
      ['80/TCP'],
      ['http:80/TCP', 'https:443/TCP'],
      ['dns:53/UDP', 'dns-tcp:53/TCP'],
      [settings.mode === 'userspace' ? '9000/TCP' : '9000/SCTP'],
    ]),
    pods: Array.from({ length: plan.pick('pods', [0, 1, 1, 2, 2, 3]) }, () => randomPod(random)),
    externalLocal: plan.pick('external policy', POLICIES) === 'Local',
    internalLocal: random.isOneIn(8),
    affinity: random.isOneIn(5) ? random.pick(AFFINITIES) : 0,
    ranges: random.isOneIn(4) ? random.between(1, MOST_RANGES) : 0,
    slices: random.isOneIn(4) ? 2 : 1,
  };
}

function randomPod(random: Random): PodDescription {
  return {
    number: random.between(1, 200),
    isLocal: !random.isOneIn(3),
    condition: random.isOneIn(6) ? random.pick(['unready', 'draining', 'dead'] as const) : 'ready',
    ...(random.isOneIn(10) && { zone: random.pick(['a', 'b'] as const) }),
  };
}

type Change = (service: ServiceDescription, random: Random) => ServiceDescription;

/** @param at the place of the pod that is changed; there may be none */
const toPods =
  (
    change: (pods: readonly PodDescription[], at: number, random: Random) => readonly PodDescription[],
  ): Change =>
  (service, random) => ({
    ...service,
    pods: change(service.pods, random.between(0, Math.max(0, service.pods.length - 1)), random),
  });

const toPod = (conditionOf: (pod: PodDescription, random: Random) => Condition | undefined): Change =>
  toPods((pods, at, random) =>
    pods.flatMap((pod, index) => {
      if (index !== at) return pod;
      const condition = conditionOf(pod, random);
      return condition === undefined ? [] : { ...pod, condition };
    }),
  );

/** How a pod ends: what comes after each condition. */
const NEXT: Readonly<Record<Condition, Condition | undefined>> = {
  unready: 'ready',
  ready: 'draining',
  draining: 'dead',
  dead: undefined,
};

/** What users and controllers make of a Service. */
const CHANGES: Readonly<Record<string, Change>> = {
  'pod-added': toPods((pods, _at, random) => [...pods, randomPod(random)]),
  'pod-removed': toPods((pods, at) => pods.toSpliced(at, 1)),
  'pod-replaced': toPods((pods, at, random) =>
    pods.toSpliced(at, 1, { ...randomPod(random), condition: 'ready' }),
  ),
  'pod-ages': toPod(({ condition }) => NEXT[condition]),
  'pod-drains': toPod(() => 'draining'),
  'pod-changes': toPod((_pod, random) => random.pick(['ready', 'unready', 'dead'])),
  'no-pods': (service) => ({ ...service, pods: [] }),
  'all-moved': (service, random) => ({
    ...service,
    pods: service.pods.map((pod) => ({ ...pod, number: random.between(1, 200) })),
  }),
  'external-policy': (service) => ({ ...service, externalLocal: !service.externalLocal }),
  type: (service, random) => ({
    ...service,
    type: random.pick(TYPES.slice(0, 4)),
    ranges: random.isOneIn(3) ? random.between(1, MOST_RANGES) : 0,
  }),
  affinity: (service, random) => ({
    ...service,
    affinity: random.pick([0, ...AFFINITIES].filter((seconds) => seconds !== service.affinity)),
  }),
  ports: (service, random) => ({
    ...service,
    ports: random.pick([['80/TCP'], ['http:80/TCP', 'https:443/TCP'], ['8080/TCP']]),
  }),
  'internal-policy': (service, random) => ({
    ...service,
    internalLocal: !service.internalLocal,
    slices: random.between(1, 2),
  }),
};

/** One change. */
export function changed(plan: Plan, service: ServiceDescription): ServiceDescription {
  return CHANGES[plan.pick('change', Object.keys(CHANGES))]!(service, plan.random);
}
