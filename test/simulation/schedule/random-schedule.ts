import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { firstDay } from '../steps/first-day.js';
import { STEPS, stepKind } from '../steps/steps.js';
import { putNew } from '../steps/users.js';
import { Random } from '../world/random.js';
import {
  MODES,
  LOCAL_BY_NODE,
  NAMES_LOOPBACK,
  REJECTS_LOCALHOST,
  type Mode,
  type WorldSettings,
} from '../world/settings.js';
import { FURTHER_LAST_ROUNDS, LAST_ROUNDS, type LastRound } from './last-rounds.js';
import { Plan } from './plan.js';
import type { Schedule, Step } from './schedule.js';
import type { StepKind } from './step-kind.js';
import { THEMES, type Theme } from './themes.js';

/** Milliseconds between two steps; most follow soon, some when everything has happened. */
const PAUSES = [0, 1, 5, 20, 100, 500, 2_000, 8_000];

/** By seed: nobody in a world asks for node ports on loopback addresses, so nothing else changes by what becomes of them. */
const LOCALHOST_NODE_PORTS = [[], [REJECTS_LOCALHOST], [REJECTS_LOCALHOST, NAMES_LOOPBACK]] as const;

/** In one world of a mode in so many, the Node's podCIDRs decide whose traffic is local. */
const ONE_LOCAL_BY_NODE_IN = 7;

/** Two cost more than half as much again as one, and most of what can be wrong shows with one. */
const FAMILIES: readonly (readonly IpFamily[])[] = [
  ...Array.from({ length: 7 }, () => ['IPv4'] as const),
  ...Array.from({ length: 3 }, () => ['IPv6'] as const),
  ['IPv4', 'IPv6'],
  ['IPv6', 'IPv4'],
];

/** How many Services there are when the program starts. */
const FIRST = [0, 1, 1, 1, 1, 2, 2, 3];
/** One world in so many is long: what happened earlier may show late. */
const ONE_LONG_IN = 89;
/** A round has so many steps at most. */
const MOST_STEPS = 4;
/** Of the worlds of a mode, one in so many has a last round after all others. */
const ONE_LAST_ROUND_IN = 2;
/** One in so many has one of the further ones. */
const ONE_FURTHER_IN = 4;
/** Modes begin with different ones, by so many, so that few worlds show all. */
const FURTHER_APART = 4;
/** The steps of these that are needed stand at its beginning. */
const MOST_LAST_STEPS = 2;
/** A kind of steps that cannot happen now is drawn again so often. */
const ATTEMPTS = 5;

/** The schedule of a seed. */
export function randomSchedule(seed: number): Schedule {
  const random = new Random(seed);
  const settings = randomSettings(seed, random);
  let theme = randomTheme(random);
  let plan = new Plan(settings, random, theme);
  let kinds = kindsOf(theme);
  const turnTo = (other: Theme): void => {
    plan = plan.about(other);
    [theme, kinds] = [other, kindsOf(other)];
  };
  const steps: Step[] = [];
  let at = 0;
  const add = (name: string, args: readonly string[]): unknown => steps.push({ at, name, args });
  const happen = (among: readonly StepKind[]): void => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const kind = weighted(random, among);
      const args = kind.plan(plan);
      if (args) return void add(kind.name, args);
    }
  };
  for (let count = Math.max(random.pick(FIRST), theme?.services ?? 0); count > 0; count--)
    add('put', putNew(plan));
  const before = firstDay(plan);
  steps.push(...before.steps);
  at += before.lasts;
  if (theme?.isTroubledAtStart) for (let count = random.between(1, 2); count > 0; count--) happen(kinds);
  const settle = (): void => {
    if (steps.at(-1)?.name !== 'settle') add('settle', []);
  };
  add('start', []);
  at += random.pick([0, 3, 50, 3_000]);
  if (theme?.begins || random.isOneIn(2)) settle();
  const round = (least: number, most: number): void => {
    for (const names of theme?.begins ?? []) happen(names.map(stepKind));
    const { pauses = PAUSES } = theme ?? {};
    if (theme?.begins) at += random.pick(pauses);
    for (let count = random.between(least, most); count > 0; count--) {
      happen(theme && !theme.isWithoutUsers && random.isOneIn(2) ? [stepKind('put')] : kinds);
      at += random.pick(pauses);
    }
    settle();
  };
  const isLong = seed % ONE_LONG_IN === 0;
  const last = lastRound(settings);
  // So that a world with a last round costs little more than others.
  const most = last ? MOST_LAST_STEPS : MOST_STEPS;
  // What was written down shows most, so that only that comes before a last round.
  const isOneBefore = !last || (!last.isAlone && theme !== undefined && THEMES.includes(theme));
  for (let rounds = isLong ? 3 : Number(isOneBefore); rounds > 0; rounds--) round(2, most);
  if (last) {
    turnTo(last);
    while (plan.services.size < (last.services ?? 1)) add('put', putNew(plan));
    // What happened before explains nothing any more.
    settle();
    round(1, MOST_LAST_STEPS);
  }
  return { settings, steps };
}

/** The kinds of steps that happen in a world with this theme. */
function kindsOf(theme: Theme | undefined): readonly StepKind[] {
  return theme ? STEPS.filter(({ name, weight }) => weight > 0 && theme.steps.includes(name)) : STEPS;
}

/** Each in its turn, for each mode; those for certain arguments wherever these are given. */
function lastRound({ seed, mode, arguments: given }: WorldSettings): LastRound | undefined {
  const number = numberOf(seed);
  if (number % ONE_LAST_ROUND_IN !== 0) {
    const further = FURTHER_LAST_ROUNDS.filter(({ modes }) => modes?.includes(mode) ?? true);
    const turn = (number - 1) / ONE_FURTHER_IN;
    if (!Number.isInteger(turn)) return undefined;
    return further[(turn + MODES.indexOf(mode) * FURTHER_APART) % further.length];
  }
  const possible = LAST_ROUNDS.filter(({ modes, argument }) => {
    const isAsked = argument === undefined ? !given.includes(LOCAL_BY_NODE) : given.includes(argument);
    return isAsked && (modes?.includes(mode) ?? true);
  });
  return possible[(number / ONE_LAST_ROUND_IN) % possible.length];
}

/** The mode in which a seed's world begins: each in turn, so that few seeds show all. */
export function modeOf(seed: number): Mode {
  return MODES[seed % MODES.length]!;
}

/** Of a world among those of its mode. */
const numberOf = (seed: number): number => Math.floor(seed / MODES.length);

function randomSettings(seed: number, random: Random): WorldSettings {
  return {
    seed,
    mode: modeOf(seed),
    families: random.pick(FAMILIES),
    nodeName: 'node-1',
    kernel: random.pick(['6.18.0', '6.18.0', '6.8.0', '6.1.0', '5.15.0']),
    iptables: random.pick(['nft', 'legacy']),
    source: random.isOneIn(6) ? 'manifests' : 'api',
    arguments: argumentsOf(numberOf(seed)),
  };
}

/** @param number of the world among those of its mode */
function argumentsOf(number: number): readonly string[] {
  const ofNodePorts = LOCALHOST_NODE_PORTS[number % LOCALHOST_NODE_PORTS.length]!;
  return number % ONE_LOCAL_BY_NODE_IN === 0 ? [...ofNodePorts, LOCAL_BY_NODE] : ofNodePorts;
}

/** A fifth of the worlds have none, a fifth one of chance, and the others one that was written down. */
function randomTheme(random: Random): Theme | undefined {
  switch (random.between(0, 4)) {
    case 0:
      return undefined;
    case 1:
      return { name: 'a few kinds of steps', steps: drawn(random, random.between(1, 4)) };
    default:
      return weighted(random, THEMES);
  }
}

/** The names of so many kinds, by their weights; some of them may be the same. */
function drawn(random: Random, count: number): readonly string[] {
  return Array.from({ length: count }, () => weighted(random, STEPS).name);
}

function weighted<T extends { readonly weight?: number }>(random: Random, all: readonly T[]): T {
  let left = random.next() * all.reduce((sum, { weight = 1 }) => sum + weight, 0);
  return all.find(({ weight = 1 }) => (left -= weight) < 0) ?? all.at(-1)!;
}
