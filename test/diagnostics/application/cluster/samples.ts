import type { NodeStatus } from '../../../../src/diagnostics/application/cluster/cluster-status.js';
import type {
  Explanation,
  FamilyExplanation,
  PortExplanation,
} from '../../../../src/diagnostics/application/explain/explanation.js';
import { timeText } from '../../../../src/domain/model/text.js';

/** What a proxy says of itself. */
export function statusOf({
  state = 'good',
  lag = 0,
  failing = 0,
  drift = 0,
}: {
  readonly state?: NodeStatus['state'];
  readonly lag?: number;
  readonly failing?: number;
  readonly drift?: number;
}): NodeStatus {
  return {
    state,
    reasons: [],
    mode: 'nftables',
    versions: { program: '0.1.0' },
    inSync: lag === 0,
    lag,
    families: [{ failed: Array.from({ length: failing }, () => ({})), sync: { drift: { repaired: drift } } }],
  };
}

/** A service port with one frontend and two endpoints. */
export function portOf(fields: Partial<PortExplanation>): PortExplanation {
  return {
    port: 'http',
    protocol: 'TCP',
    status: { state: 'programmed', since: timeText(0) },
    frontends: [
      {
        kind: 'cluster-ip',
        address: '10.96.0.1',
        port: 80,
        policy: 'Cluster',
        outcome: 'forward',
        reason: 'to 2 endpoints',
      },
    ],
    endpoints: [endpointOf('10.244.1.1'), endpointOf('10.244.2.1')],
    findings: [],
    affinitySeconds: 0,
    sourceRanges: [],
    ...fields,
  };
}

export function endpointOf(address: string): PortExplanation['endpoints'][number] {
  const state = { ready: true, serving: true, terminating: false, zoneHints: [], nodeHints: [] };
  return { address, port: 8080, isLocal: false, used: true, ...state };
}

/** How a proxy explains shop/cart. */
export function explanationOf(
  ports: readonly PortExplanation[],
  family: Partial<FamilyExplanation> = {},
): Explanation {
  const sync = { failures: 0, drift: { found: 0, repaired: 0 } };
  return {
    service: 'shop/cart',
    known: true,
    problems: [],
    families: [{ family: 'IPv4', waiting: false, ports, sync, ...family }],
  };
}
