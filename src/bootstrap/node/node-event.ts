import type { ClusterEvent } from '../../application/ports/event-recorder.js';

/** An event about the start on a node (docs/spec/server.md §1.5). */
export function nodeEvent(
  nodeName: string,
  type: ClusterEvent['type'],
  reason: string,
  note = '',
): ClusterEvent {
  return {
    regarding: { kind: 'Node', namespace: '', name: nodeName },
    type,
    reason,
    action: 'StartKubeProxy',
    note,
  };
}
