import type { StepKind } from '../schedule/step-kind.js';
import { slicesBehind, trouble } from './api-server.js';
import { flows } from './flows.js';
import { foreign } from './foreign.js';
import { formerVersion, formerVersionAgain } from './former-version.js';
import { KUBE_PROXY_STEPS } from './kube-proxy.js';
import { kernelFault } from './kernel-faults.js';
import { tear } from './manifests.js';
import { PROCESS_STEPS } from './process.js';
import { node, readOnly } from './node.js';
import { podNetworks } from './pod-networks.js';
import { misconfigure } from './misconfigure.js';
import { programFault } from './program-faults.js';
import { relabel } from './relabel.js';
import { clock, restart } from './restarts.js';
import { serviceRanges } from './service-ranges.js';
import { silence } from './silence.js';
import { put, remove, takeOver } from './users.js';

/** The program is started. */
const start: StepKind = {
  name: 'start',
  weight: 0,
  plan: () => [],
  perform: (simulation) => simulation.start(),
};

/** All trouble ends, and what was promised for quiet times is checked. */
const settle: StepKind = {
  name: 'settle',
  weight: 0,
  plan: () => [],
  perform: (simulation) => simulation.settle(),
};

/** Everything that may happen in a world. */
export const STEPS: readonly StepKind[] = [
  start,
  settle,
  put,
  remove,
  takeOver,
  flows,
  trouble,
  slicesBehind,
  tear,
  kernelFault,
  programFault,
  foreign,
  node,
  readOnly,
  restart,
  clock,
  ...PROCESS_STEPS,
  ...KUBE_PROXY_STEPS,
  podNetworks,
  relabel,
  misconfigure,
  serviceRanges,
  formerVersionAgain,
  formerVersion,
  silence,
];

const BY_NAME = new Map(STEPS.map((kind) => [kind.name, kind]));

/** @throws Error if there is none of that name */
export function stepKind(name: string): StepKind {
  const kind = BY_NAME.get(name);
  if (!kind) throw new Error(`no step is called ${name}; there are ${[...BY_NAME.keys()].join(', ')}`);
  return kind;
}
