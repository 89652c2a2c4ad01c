import type { ClusterTraffic } from '../../../../application/cluster/cluster-traffic.js';
import { named } from './grouped-nodes.js';
import { displayName } from '../../../../../domain/model/service-port-name.js';
import { columns } from '../../output/columns.js';

const HEADERS = ['SERVICE PORT', 'PROTOCOL', 'OPEN', 'NEW/S', 'UNANSWERED', 'NODES'];

/** One line a service port, and whose connections are missing. */
export function clusterTrafficLines({ services, untracked }: ClusterTraffic): readonly string[] {
  const rows = services.map(({ nodes, open, newPerSecond, unanswered, ...port }) => [
    displayName(port),
    port.protocol,
    String(open),
    newPerSecond.toFixed(1),
    String(unanswered),
    String(nodes),
  ]);
  return [
    ...(rows.length > 0 ? columns(HEADERS, rows) : ['no connections of Services']),
    ...(untracked.length > 0
      ? [`not tracked: ${named(untracked)} (through IPVS: set net.ipv4.vs.conntrack to 1)`]
      : []),
  ];
}
