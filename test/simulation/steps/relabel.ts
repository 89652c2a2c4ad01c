import { SERVICES, SLICES } from '../cluster/simulated-cluster.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

const OF_SERVICE = 'kubernetes.io/service-name';
const OF_ANOTHER_PROXY = { 'service.kubernetes.io/service-proxy-name': 'another' };
const ZONES = ['zone-b', 'zone-a', 'zone-c'];

const CHANGES: Readonly<Record<string, (simulation: Simulation, name: string) => void>> = {
  /** It is another proxy's. */
  'service-given-away': ({ cluster }, name) => cluster.relabel(SERVICES, name, OF_ANOTHER_PROXY),
  'service-taken-back': ({ cluster }, name) => cluster.relabel(SERVICES, name, {}),
  /** Nobody takes its endpoints for its own any more, … */
  'slices-astray': ({ cluster }, name) => cluster.relabel(SLICES, name, { [OF_SERVICE]: 'astray' }),
  /** … or they belong to no Service. */
  'slices-unlabeled': ({ cluster }, name) => cluster.relabel(SLICES, name, {}),
  'slices-back': ({ cluster }, name) => cluster.relabel(SLICES, name, { [OF_SERVICE]: name.split('/')[1]! }),
  /** The node is moved to the next of these zones. */
  'node-moved': ({ cluster, history }) => {
    cluster.zone = ZONES[(ZONES.indexOf(cluster.zone) + 1) % ZONES.length]!;
    history.nodeIs({ zone: cluster.zone });
    cluster.putNode();
  },
};

/** Labels change: of a Service, of its slices, or of the node. What users then write of the Service has the usual ones. */
export const relabel: StepKind = {
  name: 'relabel',
  weight: 0,
  plan(plan) {
    const name = plan.settings.source === 'api' ? plan.pickService() : undefined;
    return name === undefined ? undefined : [plan.pick('relabel', Object.keys(CHANGES)), name];
  },
  perform(simulation, [what = '', name = '']) {
    const change = CHANGES[what];
    if (!change)
      throw new Error(`labels do not change by ${what}; there are ${Object.keys(CHANGES).join(', ')}`);
    change(simulation, name);
  },
};
