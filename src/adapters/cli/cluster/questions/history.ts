import { aboutUnknown, type AboutUnknown } from '../../../../application/status/service-row.js';
import { historyAnswer } from '../../../../application/status/change-entry.js';
import { both } from '../../../../application/answers/shape.js';
import { silentOf } from '../../../../application/cluster/ask-nodes.js';
import { HistorySum, type ClusterHistory } from '../../../../application/cluster/cluster-history.js';
import { grouped } from '../../texts/grouped-nodes.js';
import type { History } from '../../../../application/status/change-entry.js';
import { CHANGE_ENTRY_HEADERS, changeEntryCells } from '../../texts/change-entry-text.js';
import type { ServiceKey } from '../../../../domain/model/service-port-name.js';
import { columns } from '../../output/columns.js';
import type { NodesQuestion } from '../nodes-question.js';

/** 0 when all nodes answer and one of them knows the Service, otherwise 1. */
export function historyQuestion(
  service?: ServiceKey,
): NodesQuestion<History & AboutUnknown, void, ClusterHistory> {
  const sum = new HistorySum();
  return {
    words: ['history', ...(service === undefined ? [] : [service]), '-o', 'json'],
    shape: both(historyAnswer, aboutUnknown),
    keep: (answer, node) => sum.add(node, answer),
    result: (replies) => sum.result(silentOf(replies)),
    text: historyText,
    exitCode: ({ unknown, silent }) => (unknown.length + silent.length > 0 ? 1 : 0),
  };
}

function historyText({ changes, silent }: ClusterHistory, isWide: boolean): string {
  const table =
    changes.length === 0
      ? 'no change is remembered\n'
      : columns(
          ['NODE', ...CHANGE_ENTRY_HEADERS],
          changes.map((change) => [change.node, ...changeEntryCells(change, isWide)]),
        );
  return (
    table +
    grouped('no answer', silent, ({ reason }) => reason)
      .map((line) => `${line}\n`)
      .join('')
  );
}
