/** The frontend through which the proxy checks that this node forwards, and what follows from its connections. */

import type { Endpoint } from '../model/endpoint.js';
import { servicePortKey, type ServicePortName } from '../model/service-port-name.js';
import { LOCALHOST } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import type { ForwardingEntry } from './forwarding-entry.js';

/** No Service can have this name, as names of Services have no dots. */
const NAME: ServicePortName = {
  namespace: 'kube-proxy-ts',
  name: 'forwarding.check',
  port: '',
  protocol: 'TCP',
};

export const CHECK_KEY = servicePortKey(NAME);

/** The TCP ports of a check, both on the loopback address of the family. */
export interface CheckedPorts {
  /** The port to which the proxy connects. */
  readonly frontend: number;
  /** The port to which the rules lead these connections. */
  readonly endpoint: number;
}

/**
 * The service port of the check. Packets of other machines and pods cannot have a loopback address as their destination, and no Service
 * can have one. It is an external frontend: a cluster IP would have the other ports of its address rejected.
 */
export function checkEntry(family: IpFamily, { frontend, endpoint }: CheckedPorts): ForwardingEntry {
  const address = LOCALHOST[family];
  const listener: Endpoint = {
    address,
    port: endpoint,
    isLocal: true,
    ready: true,
    serving: true,
    terminating: false,
    zoneHints: [],
    nodeHints: [],
  };
  const endpoints = [listener];
  return {
    key: CHECK_KEY,
    name: NAME,
    family,
    frontends: [{ kind: 'external-ip', address, port: frontend, policy: 'Cluster', outcome: 'forward' }],
    endpoints: { cluster: endpoints, local: undefined, reachable: endpoints, hasAny: true },
    flowEligibleEndpoints: endpoints,
    localEndpoints: [],
    internalPolicyLocal: false,
    externalPolicyLocal: false,
    affinitySeconds: 0,
    sourceRanges: [],
    sourceRangesCoverNode: false,
    healthCheckNodePort: 0,
    externallyReachable: true,
    knownEndpoints: 1,
  };
}

/** One failure may be a coincidence; so many in a row are a problem of the node. */
const FAILURES_IN_A_ROW = 3;

/** The results of the checks of a family. */
export interface ForwardingState {
  /** Since the last success, or since the start. */
  readonly failuresInARow: number;
  readonly totalFailures: number;
  /** Why the last check failed; missing if it succeeded. */
  readonly problem?: string;
}

export const UNCHECKED: ForwardingState = { failuresInARow: 0, totalFailures: 0 };

/** The state after one more check. @param problem why it failed; undefined: it succeeded */
export function afterCheck(state: ForwardingState, problem: string | undefined): ForwardingState {
  const { failuresInARow, totalFailures } = state;
  if (problem === undefined) return { failuresInARow: 0, totalFailures };
  return { failuresInARow: failuresInARow + 1, totalFailures: totalFailures + 1, problem };
}

/** Why the node does not forward, for people; undefined if it does, or may. */
export function forwardingFault({ failuresInARow, problem }: ForwardingState): string | undefined {
  return failuresInARow < FAILURES_IN_A_ROW
    ? undefined
    : `the last checks of forwarding failed, at least ${FAILURES_IN_A_ROW} in a row: ${problem}`;
}
