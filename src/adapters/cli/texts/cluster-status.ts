import type { ClusterStatus, NodeRow } from '../../../application/cluster/cluster-status.js';
import { noAnswerLines } from './grouped-nodes.js';
import { columns } from '../output/columns.js';

const HEADERS = ['NODE', 'STATE', 'VERSION', 'MODE', 'IN SYNC', 'LAG', 'FAILING', 'DRIFT'];

/** One line a node, and who did not answer. */
export function clusterStatusLines({ nodes, silent }: ClusterStatus, isWide: boolean): readonly string[] {
  const rows = nodes.map((row) => [...cellsOf(row), ...(isWide ? [row.reasons.join('; ')] : [])]);
  const table = rows.length > 0 ? columns([...HEADERS, ...(isWide ? ['REASONS'] : [])], rows) : [];
  const unanswered = isWide
    ? silent.map(({ node, reason }) => `no answer: ${node} (${reason})`)
    : noAnswerLines(silent);
  return [...table, ...unanswered];
}

function cellsOf({ node, state, version, mode, inSync, lag, failing, drift }: NodeRow): readonly string[] {
  return [
    node,
    state,
    version,
    mode,
    inSync ? 'yes' : 'no',
    inSync ? '-' : `${lag.toFixed(1)} s`,
    String(failing),
    String(drift),
  ];
}
