import { KUBE_PROXY_MODES, type KubeProxyModeName } from '../kube-proxy/kube-proxy.js';
import type { StepKind } from '../schedule/step-kind.js';

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

export const KUBE_PROXY_STEPS: readonly StepKind[] = [beside, goBack];
