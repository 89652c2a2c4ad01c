import type { StepKind } from '../schedule/step-kind.js';

/** Milliseconds for which no process runs. */
const PAUSES = [10, 300, 2_000, 15_000];

/** The process is killed when it has made so many more calls, and started again a little later. */
const kill: StepKind = {
  name: 'kill',
  weight: 2,
  plan: (plan) => [String(plan.random.pick([0, 0, 1, 2, 5, 13, 40])), String(plan.pick('pause', PAUSES))],
  perform(simulation, [calls = '0', pause = '0']) {
    simulation.killAfter(Number(calls), Number(pause));
  },
};

/** The process is asked to stop, and started again when it has. */
const terminate: StepKind = {
  name: 'terminate',
  weight: 1,
  plan: (plan) => [String(plan.pick('pause', PAUSES))],
  perform(simulation, [pause = '0']) {
    simulation.world.proxy.raise('SIGTERM');
    simulation.restartOnceEnded(Number(pause));
  },
};

/** How many turns of the process are left; what it does at a start takes some hundred. */
const TURNS = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377];

/** Between two turns of the process, wherever it waits for something: it is killed or asked to stop, and started again a little later. */
const interrupt: StepKind = {
  name: 'interrupt',
  weight: 0,
  plan: (plan) => [
    plan.random.pick(['killed', 'asked']),
    String(plan.random.pick(TURNS)),
    String(plan.pick('pause', PAUSES)),
  ],
  perform(simulation, [how = '', turns = '0', pause = '0']) {
    simulation.afterTurns(Number(turns), (proxy) => {
      simulation.restartOnceEnded(Number(pause));
      if (how === 'killed') proxy.kill();
      else proxy.raise('SIGTERM');
    });
  },
};

export const PROCESS_STEPS: readonly StepKind[] = [kill, terminate, interrupt];
