import { inToneOf } from '../../output/tones.js';
import type { ClusterStatus, NodeRow } from '../../../../application/cluster/cluster-status.js';
import { proxyWord } from '../../../../application/words/state-words.js';
import { columns } from '../../output/columns.js';

const HEADERS = ['NODE', 'STATE', 'VERSION', 'MODE', 'IN SYNC', 'LAG', 'FAILING', 'DRIFT'];

/** One line a node. */
export function clusterStatusLines({ nodes }: ClusterStatus, isWide: boolean): readonly string[] {
  const rows = nodes.map((row) => [...cellsOf(row), ...(isWide ? [row.reasons.join('; ')] : [])]);
  return rows.length > 0 ? columns([...HEADERS, ...(isWide ? ['REASONS'] : [])], rows) : [];
}

function cellsOf({ node, state, version, mode, inSync, lag, failing, drift }: NodeRow): readonly string[] {
  return [
    node,
    inToneOf(state, proxyWord(state)),
    version,
    mode,
    inSync ? 'yes' : 'no',
    inSync ? '-' : `${lag.toFixed(1)} s`,
    String(failing),
    String(drift),
  ];
}
