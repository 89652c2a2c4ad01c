import { aboutUnknown, type AboutUnknown } from '../../../../application/status/service-row.js';
import { differenceAnswer } from '../../../../application/difference/difference-report.js';
import { both } from '../../../../application/answers/shape.js';
import {
  clusterDifferences,
  shortened,
  type ClusterDifferences,
} from '../../../../application/cluster/cluster-differences.js';
import { clusterDifferencesText } from '../../texts/cluster-differences-text.js';
import type { DifferenceReport } from '../../../../application/difference/difference-report.js';
import type { ServiceKey } from '../../../../domain/model/service-port-name.js';
import type { NodesQuestion } from '../nodes-question.js';

type Answer = DifferenceReport & AboutUnknown;

/** A comparison of everything takes this long at most. Milliseconds. */
const TIMEOUT = 60_000;

/** 0 when all nodes answer and no kernel has anything otherwise than desired, otherwise 1. */
export function diffQuestion(service?: ServiceKey): NodesQuestion<Answer, Answer, ClusterDifferences> {
  return {
    words: ['diff', ...(service === undefined ? [] : [service]), '-o', 'json'],
    timeout: TIMEOUT,
    shape: both(differenceAnswer, aboutUnknown),
    keep: shortened,
    result: clusterDifferences,
    text: clusterDifferencesText,
    exitCode: ({ asked, alike, unknown }) => (alike === asked && unknown.length === 0 ? 0 : 1),
  };
}
