import type { QuestionKind, ClusterQuestion } from '../arguments/question.js';
import { traceAnswer } from '../../../application/trace/answer.js';
import { both } from '../../../../domain/shape.js';
import {
  clusterComparison,
  comparisonExit,
  nodeComparison,
} from '../../../application/cluster/cluster-comparison.js';
import { clusterDifferences, shortened } from '../../../application/cluster/cluster-differences.js';
import { compareExplanations } from '../../../application/cluster/cluster-explanation.js';
import { HistorySum } from '../../../application/cluster/cluster-history.js';
import { ServicesSum } from '../../../application/cluster/cluster-services.js';
import { clusterStatus, nodeStatus } from '../../../application/cluster/cluster-status.js';
import { clusterTraces, keptTrace } from '../../../application/cluster/cluster-traces.js';
import { nodeTraffic, sumTraffic } from '../../../application/cluster/cluster-traffic.js';
import { differenceAnswer } from '../../../application/difference/difference-report.js';
import { serviceExplanation } from '../../../application/explain/explanation.js';
import { historyAnswer } from '../../../../application/status/change-entry.js';
import { aboutUnknown, servicesAnswer } from '../../../application/status/service-row.js';
import { COMPARISON } from '../asking/running-proxy.js';
import { objectName } from '../output/object-name.js';
import { clusterComparisonLines } from '../texts/cluster/comparison.js';
import { clusterDifferencesLines } from '../texts/cluster/differences.js';
import { clusterExplanationLines } from '../texts/cluster/explanation.js';
import { clusterServicesLines } from '../texts/cluster/services.js';
import { clusterStatusLines } from '../texts/cluster/status.js';
import { clusterTracesLines } from '../texts/cluster/traces.js';
import { clusterTrafficLines } from '../texts/cluster/traffic.js';
import { changedServices, historyLines } from '../texts/history.js';
import { nameText } from '../command-line/service-names.js';
import { dumpQuestion } from './dump-question.js';
import type { NodesQuestion } from './nodes-question.js';

/** The types of one question are its own. */
type AnyQuestion = NodesQuestion<unknown, unknown, object>;
const question = <Answer, Kept, Result extends object>(
  one: NodesQuestion<Answer, Kept, Result>,
): AnyQuestion => one;

const historyOfNode = both(historyAnswer, aboutUnknown);

/** Everything that nodes can be asked, with the exit code of what they say. */
export const questions: {
  readonly [Kind in QuestionKind]: (asked: ClusterQuestion) => AnyQuestion | Promise<AnyQuestion>;
} = {
  /** 0 when all nodes are good, 1 when some are degraded, 2 when some do not serve or do not answer. */
  status: () =>
    question({
      shape: nodeStatus,
      keep: (answer) => answer,
      result: clusterStatus,
      lines: clusterStatusLines,
      names: ({ nodes }) => nodes.map(({ node }) => objectName('node', node)),
      exitCode({ nodes }) {
        const states = new Set(nodes.map(({ state }) => state));
        return states.has('not-serving') ? 2 : states.has('degraded') ? 1 : 0;
      },
      incomplete: 2,
    }),

  /** 0 when all nodes that list a Service have programmed it, all names are known, and all nodes answer; otherwise 1. */
  services() {
    const sum = new ServicesSum();
    return question({
      shape: servicesAnswer,
      keep: (answer, node) => sum.add(node, answer),
      result: () => sum.result(),
      lines: clusterServicesLines,
      names: ({ services }) => services.map(({ name }) => objectName('service', name)),
      exitCode: ({ services, unknown }) =>
        unknown.length > 0 || services.some(({ others }) => others.length > 0) ? 1 : 0,
    });
  },

  /** Of the first of the Services, as each is compared by itself. 0 when all nodes have programmed it alike, otherwise 1. */
  explain: ({ services: [service] }) =>
    question({
      shape: serviceExplanation,
      keep: (answer) => answer,
      result: (answers, silent) =>
        compareExplanations(nameText(service!), answers, answers.length + silent.length),
      lines: clusterExplanationLines,
      // A node that knows no port of that name says so among the problems.
      exitCode: ({ known, alike, asked, problems }) =>
        known && alike === asked && (service!.port === undefined || problems.length === 0) ? 0 : 1,
    }),

  /** 0 when all nodes can tell what becomes of the packet there, otherwise 1. */
  trace: () =>
    question({
      shape: traceAnswer,
      keep: keptTrace,
      result: clusterTraces,
      lines: clusterTracesLines,
      exitCode: ({ failed }) => (failed.length > 0 ? 1 : 0),
    }),

  /** 0 when all nodes answer and no kernel has anything otherwise than desired, otherwise 1. */
  diff: () =>
    question({
      timeout: COMPARISON,
      shape: both(differenceAnswer, aboutUnknown),
      keep: shortened,
      result: (answers, silent) => clusterDifferences(answers, answers.length + silent.length),
      lines: clusterDifferencesLines,
      exitCode: ({ asked, alike, unknown }) => (alike === asked && unknown.length === 0 ? 0 : 1),
    }),

  /** 0 when all nodes answer and one of them knows the Service, otherwise 1. */
  history() {
    const sum = new HistorySum();
    return question({
      shape: historyOfNode,
      keep: (answer, node) => sum.add(node, answer),
      result: () => sum.result(),
      lines: ({ changes }, isWide) => historyLines(changes, isWide),
      names: ({ changes }) => changedServices(changes),
      exitCode: ({ unknown }) => (unknown.length > 0 ? 1 : 0),
    });
  },

  /** 0 when all nodes answer, otherwise 1. */
  top: () =>
    question({
      shape: nodeTraffic,
      keep: (answer) => answer,
      result: (answers, silent) => sumTraffic(answers, answers.length + silent.length),
      lines: clusterTrafficLines,
      exitCode: () => 0,
    }),

  /** 0 when nothing differs but what is expected, 1 when something does, 2 when something is not understood. */
  compare: ({ comparison }) =>
    question({
      timeout: comparison!.timeout,
      shape: nodeComparison,
      keep: (answer) => answer,
      result: clusterComparison,
      lines: clusterComparisonLines,
      exitCode: comparisonExit,
    }),

  dump: async ({ to }) => question(await dumpQuestion(to)),
};
