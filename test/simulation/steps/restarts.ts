import type { StepKind } from '../schedule/step-kind.js';
import { MODES, NAMES_LOOPBACK, NAMES_ONE_NETWORK, REJECTS_LOCALHOST, type Mode } from '../world/settings.js';

/** Arguments that change how rules are written and how the program goes about it, but not what becomes of packets to the Node's address. */
const ARGUMENTS = [
  [],
  [],
  ['--iptables-masquerade-bit=13'],
  ['--iptables-min-sync-period=2s'],
  ['--iptables-sync-period=10s'],
  [REJECTS_LOCALHOST],
  [REJECTS_LOCALHOST, NAMES_LOOPBACK],
  [NAMES_ONE_NETWORK],
];

/** The process ends, and is started again in another mode or with other arguments. */
export const restart: StepKind = {
  name: 'restart',
  weight: 2,
  plan: ({ random, settings }) => [
    random.pick(['killed', 'asked']),
    String(random.pick([5, 100, 3_000])),
    // Services of other worlds may ask for what mode userspace does not do.
    random.isOneIn(3)
      ? settings.mode
      : random.pick(MODES.filter((mode) => mode !== 'userspace' || settings.mode === mode)),
    ...random.pick(ARGUMENTS),
  ],
  perform(simulation, [how = '', pause = '0', mode = '', ...rest]) {
    const { proxy } = simulation.world;
    simulation.restartOnceEnded(Number(pause), () => {
      simulation.mode = mode as Mode;
      simulation.arguments = [...simulation.world.settings.arguments, ...rest];
    });
    if (how === 'killed') proxy.kill();
    else proxy.raise('SIGTERM');
  },
};

/** The wall clock is moved; timers go on as if nothing had happened. */
export const clock: StepKind = {
  name: 'clock',
  weight: 1,
  plan: ({ random }) => [random.pick(['3600', '-600', '0.5', '-86400'])],
  perform({ world }, [seconds = '0']) {
    world.clockOffset += Number(seconds) * 1_000;
  },
};
