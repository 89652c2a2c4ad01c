import { firstDay } from '../steps/first-day.js';
import { STEPS, stepKind } from '../steps/steps.js';
import { Random } from '../world/random.js';
import {
  MODES,
  NAMES_LOOPBACK,
  REJECTS_LOCALHOST,
  type Mode,
  type WorldSettings,
} from '../world/settings.js';
import type { Schedule, Step } from './schedule.js';
import type { Plan, StepKind } from './step-kind.js';

/** Milliseconds between two steps; most follow soon, some when everything has happened. */
const PAUSES = [0, 1, 5, 20, 100, 500, 2_000, 8_000];

/** By seed: nobody in a world asks for node ports on loopback addresses, so nothing else changes by what becomes of them. */
const LOCALHOST_NODE_PORTS = [[], [REJECTS_LOCALHOST], [REJECTS_LOCALHOST, NAMES_LOOPBACK]] as const;

/** The schedule of a seed. */
export function randomSchedule(seed: number): Schedule {
  const random = new Random(seed);
  const settings = randomSettings(seed, random);
  let number = 1;
  const plan: Plan = { settings, random, services: new Map(), next: () => number++ };
  const steps: Step[] = [];
  let at = 0;
  const add = (kind: StepKind): boolean => {
    const args = kind.plan(plan);
    if (!args) return false;
    steps.push({ at, name: kind.name, args });
    return true;
  };
  const put = stepKind('put');
  for (let count = random.between(0, 6); count > 0; count--) add(put);
  const before = firstDay(plan);
  steps.push(...before.steps);
  at += before.lasts;
  add(stepKind('start'));
  at += random.pick([0, 3, 50, 3_000]);
  for (let round = random.between(1, 3); round > 0; round--) {
    for (let count = random.between(2, 7); count > 0; count--) {
      add(chosen(random));
      at += random.pick(PAUSES);
    }
    add(stepKind('settle'));
  }
  return { settings, steps };
}

/** The mode in which a seed's world begins: each in turn, so that few seeds show all. */
export function modeOf(seed: number): Mode {
  return MODES[seed % MODES.length]!;
}

function randomSettings(seed: number, random: Random): WorldSettings {
  return {
    seed,
    mode: modeOf(seed),
    families: random.pick([['IPv4'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']]),
    nodeName: 'node-1',
    kernel: random.pick(['6.18.0', '6.18.0', '6.8.0', '6.1.0', '5.15.0']),
    iptables: random.pick(['nft', 'legacy']),
    source: random.isOneIn(6) ? 'manifests' : 'api',
    arguments: LOCALHOST_NODE_PORTS[Math.floor(seed / MODES.length) % LOCALHOST_NODE_PORTS.length]!,
  };
}

function chosen(random: Random): StepKind {
  let left = random.next() * STEPS.reduce((sum, { weight }) => sum + weight, 0);
  return STEPS.find(({ weight }) => (left -= weight) < 0) ?? STEPS.at(-1)!;
}
