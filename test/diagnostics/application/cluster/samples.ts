import type { PortReport, TrafficReport } from '../../../../src/diagnostics/domain/traffic.js';
import type { ProxyStatus } from '../../../../src/diagnostics/application/status/proxy-status.js';
import type {
  Explanation,
  FamilyExplanation,
  PortExplanation,
} from '../../../../src/diagnostics/application/explain/explanation.js';
import { timeText } from '../../../../src/domain/model/text.js';

/** What a proxy says of itself. */
export function statusOf({
  state = 'ok',
  lag = 0,
  failing = 0,
  drift = 0,
}: {
  readonly state?: ProxyStatus['state'];
  readonly lag?: number;
  readonly failing?: number;
  readonly drift?: number;
}): ProxyStatus {
  const port = { servicePort: 'shop/cart:http', sinceTime: timeText(0), attempts: 1, reason: 'EINVAL' };
  const sync = { failures: 0, drift: { repairs: drift, writtenSteps: drift } };
  const family = {
    family: 'IPv4',
    inSync: lag === 0,
    pendingServices: 0,
    programmed: 1,
    degraded: [],
    sync,
  } as const;
  return {
    ...{
      state,
      reasons: [],
      node: 'node',
      mode: 'nftables',
      inSync: lag === 0,
      lagSeconds: lag,
      pendingReasons: [],
    },
    versions: { program: '0.1.0', nodejs: 'v24', kernel: '6.1' },
    ...{ startTime: timeText(0), time: timeText(0), ignored: [], watches: [], lastErrors: [] },
    serviceCounts: { ok: 1, warning: 0, error: 0 },
    serviceProblems: [],
    families: [{ ...family, failed: Array.from({ length: failing }, () => port) }],
  };
}

/** A service port with one frontend and two endpoints. */
export function portOf(fields: Partial<PortExplanation>): PortExplanation {
  return {
    portName: 'http',
    protocol: 'TCP',
    status: { state: 'programmed', sinceTime: timeText(0) },
    frontends: [
      {
        kind: 'cluster-ip',
        address: '10.96.0.1',
        port: 80,
        policy: 'Cluster',
        outcome: 'forward',
        state: 'ok',
        reason: 'to 2 endpoints',
      },
    ],
    endpoints: [endpointOf('10.244.1.1'), endpointOf('10.244.2.1')],
    verdicts: [{ state: 'ok', reason: '2 of 2 endpoints are ready' }],
    affinitySeconds: 0,
    sourceRanges: [],
    ...fields,
  };
}

export function endpointOf(address: string): PortExplanation['endpoints'][number] {
  const state = { ready: true, serving: true, terminating: false, zoneHints: [], nodeHints: [] };
  return { address, port: 8080, local: false, used: true, unresponsive: false, ejected: false, ...state };
}

/** How a proxy explains shop/cart. */
export function explanationOf(
  ports: readonly PortExplanation[],
  family: Partial<FamilyExplanation> = {},
): Explanation {
  const sync = { failures: 0, drift: { repairs: 0, writtenSteps: 0 } };
  return {
    service: 'shop/cart',
    known: true,
    verdict: { state: 'ok', reason: '2 of 2 endpoints are ready' },
    objects: [],
    families: [{ family: 'IPv4', pending: false, ports, sync, ...family }],
  };
}

/** The traffic of one service port. */
export function trafficOf(name: string, open: number, newPerSecond = 0, unanswered = 0): PortReport {
  return {
    ...{ namespace: 'shop', name, portName: 'http', protocol: 'TCP', family: 'IPv4' },
    ...{
      openConnections: open,
      newConnections: 0,
      newConnectionsPerSecond: newPerSecond,
      unansweredConnections: unanswered,
      unresponsiveEndpoints: 0,
      endpoints: [],
    },
  };
}

/** What a proxy counts in one interval. */
export function trafficReport(services: readonly PortReport[], tracksServices = true): TrafficReport {
  return {
    ...{
      time: timeText(0),
      durationSeconds: 1,
      trackedConnections: 0,
      omitted: 0,
      complete: true,
      readRatio: 1,
    },
    ...{ samplingRate: 1, eventLosses: 0, bytesCounted: false, bridgedHidden: false },
    servicesTracked: tracksServices,
    services,
  };
}
