import type { ClusterTraffic } from '../../../application/cluster/cluster-traffic.js';
import { grouped } from '../../../application/cluster/grouped-nodes.js';
import { displayName } from '../../../domain/model/service-port-name.js';
import { columns } from '../output/columns.js';

const HEADERS = ['SERVICE PORT', 'PROTOCOL', 'OPEN', 'NEW/S', 'UNANSWERED', 'NODES'];

/** One line a service port, and who did not answer. */
export function clusterTrafficText({ services, silent }: ClusterTraffic): string {
  const rows = services.map(({ nodes, open, newPerSecond, unanswered, ...port }) => [
    displayName(port),
    port.protocol,
    String(open),
    newPerSecond.toFixed(1),
    String(unanswered),
    String(nodes),
  ]);
  const lines = grouped('no answer', silent, ({ reason }) => reason);
  return columns(HEADERS, rows) + lines.map((line) => `${line}\n`).join('');
}
