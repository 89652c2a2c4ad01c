import type { SilentNode } from '../../../application/cluster/ask-nodes.js';
import type { ClusterStatus, NodeRow } from '../../../application/cluster/cluster-status.js';
import { objectName } from '../output/object-name.js';
import { clusterStatusLines } from '../texts/cluster/status.js';
import { noAnswerLines } from '../texts/cluster/grouped-nodes.js';
import { tableText, type Watched } from '../watching/watch.js';

type WatchedNode = NodeRow | SilentNode;

/** All nodes: those that answered, and those that did not. */
export function watchedNodes({
  nodes,
  silent,
}: ClusterStatus & { readonly silent: readonly SilentNode[] }): Watched<WatchedNode> {
  return {
    items: [...nodes, ...silent],
    key: ({ node }) => node,
    // How long a change waits is different at any moment.
    essence: (node) => ('state' in node ? { ...node, lag: 0 } : node),
    gone: ({ node }) => ({ node, silence: 'absent', reason: 'it is no longer among the nodes' }),
    text(all, isWide) {
      const rows = all.flatMap((node) => ('state' in node ? node : []));
      const others = all.flatMap((node) => ('state' in node ? [] : node));
      const { head, rows: lines } = tableText(clusterStatusLines({ nodes: rows }, isWide));
      return { head, rows: [...lines, ...noAnswerLines(others, true).map((line) => [line])] };
    },
    name: ({ node }) => objectName('node', node),
  };
}
