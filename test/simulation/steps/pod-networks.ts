import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { localNetworks } from '../schedule/arguments.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

/** Milliseconds until a Node that has none gets them. */
const UNTIL_ALLOCATED = [20, 3_000, 40_000];

type PodNetworks = Readonly<Record<IpFamily, string>>;

const ALLOCATED: Readonly<Record<string, PodNetworks>> = {
  changed: { IPv4: '10.244.3.0/24', IPv6: 'fd00:10:244:3::/64' },
  /** Pods of another node count as local, and the own ones as strangers. */
  'of-others': { IPv4: '10.244.2.0/24', IPv6: 'fd00:10:244:2::/64' },
};
/** The Node is registered again, and has none for a while. */
const LATE = 'late';

/** The podCIDRs of the Node object are others, or are missing for a while. */
export const podNetworks: StepKind = {
  name: 'pod-networks',
  weight: 0,
  plan(plan) {
    const { settings, random } = plan;
    // A Node object in a manifest stays as it is.
    if (settings.source === 'manifests') return undefined;
    const which = plan.pick('pod networks', [...Object.keys(ALLOCATED), LATE]);
    return which === LATE ? [LATE, String(random.pick(UNTIL_ALLOCATED))] : [which];
  },
  perform(simulation, [which = '', pause = '0']) {
    const { cluster, world } = simulation;
    if (which === LATE) {
      cluster.hasPodNetworks = false;
      cluster.putNode();
      return world.machine.endAfter(Number(pause), () => allocate(simulation, cluster.podNetworks));
    }
    const networks = ALLOCATED[which];
    if (!networks)
      throw new Error(`no podCIDRs are called ${which}; there are ${Object.keys(ALLOCATED).join(', ')}`);
    return allocate(simulation, networks);
  },
};

function allocate({ cluster, history, world }: Simulation, networks: PodNetworks): void {
  Object.assign(cluster.podNetworks, networks);
  cluster.hasPodNetworks = true;
  history.nodeIs({ localNetworks: localNetworks(world.settings, cluster.podNetworks) });
  cluster.putNode();
}
