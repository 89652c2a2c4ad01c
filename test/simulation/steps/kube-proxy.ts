import { KUBE_PROXY_MODES, type KubeProxyModeName } from '../kube-proxy/kube-proxy.js';
import type { Step } from '../schedule/schedule.js';
import type { Plan, StepKind } from '../schedule/step-kind.js';

/** kube-proxy starts beside the proxy, in any mode; is killed, and leaves its rules; or somebody has it remove them, and those of the proxy. */
const beside: StepKind = {
  name: 'kube-proxy',
  weight: 1,
  plan: ({ random, settings }) => {
    if (settings.mode === 'userspace') return undefined;
    return random.pick([['start', random.pick([settings.mode, ...KUBE_PROXY_MODES])], ['stop'], ['cleanup']]);
  },
  perform({ kubeProxy }, [what = '', mode = '']) {
    switch (what) {
      case 'start':
        return kubeProxy.start(mode as KubeProxyModeName);
      case 'stop':
        return kubeProxy.stop();
      case 'cleanup':
        return kubeProxy.cleanUp();
      default:
        throw new Error(`kube-proxy may start, stop or cleanup, not ${what}`);
    }
  },
};

/** The node goes back to kube-proxy, and after so many milliseconds to the proxy again. */
const goBack: StepKind = {
  name: 'go-back',
  weight: 1,
  plan: ({ random, settings }) => {
    if (settings.mode === 'userspace') return undefined;
    const mode = random.isOneIn(3) ? random.pick(KUBE_PROXY_MODES) : settings.mode;
    return [random.pick(['killed', 'asked']), mode, String(random.pick([1_500, 5_000, 40_000]))];
  },
  perform(simulation, [how = '', mode = '', pause = '0']) {
    const { kubeProxy, world } = simulation;
    const { proxy } = world;
    simulation.restartOnceEnded(Number(pause), () => {
      kubeProxy.start(mode as KubeProxyModeName);
      world.scheduler.after(Number(pause), () => kubeProxy.stop(), world.fate);
    });
    if (how === 'killed') proxy.kill();
    else proxy.raise('SIGTERM');
  },
};

/** One world in so many begins as everybody's: with the rules of a kube-proxy whose process is gone. */
const FIRST_DAYS = 4;
const UNTIL_IT_SERVES = 3_000;

/** What happens before the proxy is started for the first time, and how long it takes. */
export function firstDay({ random, settings }: Plan): {
  readonly steps: readonly Step[];
  readonly lasts: number;
} {
  if (settings.mode === 'userspace' || !random.isOneIn(FIRST_DAYS)) return { steps: [], lasts: 0 };
  const mode = random.pick([settings.mode, ...KUBE_PROXY_MODES]);
  const step = (at: number, ...args: readonly string[]): Step => ({ at, name: 'kube-proxy', args });
  return { steps: [step(0, 'start', mode), step(UNTIL_IT_SERVES, 'stop')], lasts: UNTIL_IT_SERVES };
}

export const KUBE_PROXY_STEPS: readonly StepKind[] = [beside, goBack];
