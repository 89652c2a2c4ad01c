import { statusAnswer } from '../../../application/status/proxy-status.js';
import { trafficAnswer } from '../../../domain/traffic.js';
/** For each command of the plugin: how the answers of the nodes become one result, its text and its exit code. */

import type { QueryKind, ClusterQuery } from './cluster-command.js';
import { traceAnswer } from '../../../application/trace/answer.js';
import { both } from '../../../../domain/shape.js';
import {
  clusterComparison,
  comparisonExit,
  nodeComparison,
  clusterDifferences,
  shortened,
} from '../../../application/cluster/cluster-comparison.js';
import { compareExplanations } from '../../../application/cluster/cluster-explanation.js';
import { HistorySum, sumTraffic } from '../../../application/cluster/cluster-activity.js';
import { ServicesSum, clusterStatus } from '../../../application/cluster/cluster-status.js';
import { clusterTraces, keptTrace } from '../../../application/cluster/cluster-traces.js';
import { differenceAnswer } from '../../../application/difference/difference-report.js';
import { serviceExplanation } from '../../../application/explain/explanation.js';
import { historyAnswer } from '../../../../application/status/change-entry.js';
import { aboutUnknown, servicesAnswer } from '../../../application/status/service-row.js';
import { COMPARISON } from '../running-proxy.js';
import { objectName } from '../output.js';
import { clusterComparisonLines } from './comparison-text.js';
import {
  clusterDifferencesLines,
  clusterExplanationLines,
  clusterServicesLines,
  clusterStatusLines,
  clusterTracesLines,
  clusterTrafficLines,
} from './texts.js';
import { changedServices, historyLines } from '../commands/history.js';
import { nameText } from '../options.js';
import type { KeptAnswers, NodeAnswer, SilentNode } from '../../../application/cluster/query-nodes.js';

/** The types of one query are its own. */
type AnyQuery = NodesQuery<unknown, unknown, object>;
const nodesQuery = <Answer, Kept, Result extends object>(one: NodesQuery<Answer, Kept, Result>): AnyQuery =>
  one;

const historyOfNode = both(historyAnswer, aboutUnknown);

/** The commands for all nodes, each with the exit code of its answers. */
export const nodesQueries: {
  readonly [Kind in Exclude<QueryKind, 'dump'>]: (query: ClusterQuery) => AnyQuery | Promise<AnyQuery>;
} = {
  /** 0 when all nodes are good, 1 when some are degraded, 2 when some do not serve or do not answer. */
  status: () =>
    nodesQuery({
      shape: statusAnswer,
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
    return nodesQuery({
      shape: servicesAnswer,
      keep: (answer, node) => sum.add(node, answer),
      result: () => sum.result(),
      lines: clusterServicesLines,
      names: ({ services }) => services.map(({ name }) => objectName('service', name)),
      exitCode: ({ services, unknownNames }) =>
        unknownNames.length > 0 || services.some(({ others }) => others.length > 0) ? 1 : 0,
    });
  },

  /** Of the first of the Services, as each is compared by itself. 0 when all nodes have programmed it alike, otherwise 1. */
  explain: ({ services: [service] }) =>
    nodesQuery({
      shape: serviceExplanation,
      keep: (answer) => answer,
      result: (answers, silent) =>
        compareExplanations(nameText(service!), answers, answers.length + silent.length),
      lines: clusterExplanationLines,
      // A node without a port of that name reports it among the problems.
      exitCode: ({ known, alike, asked, problems }) =>
        known && alike === asked && (service!.port === undefined || problems.length === 0) ? 0 : 1,
    }),

  /** 0 when all nodes can trace the packet, otherwise 1. */
  trace: () =>
    nodesQuery({
      shape: traceAnswer,
      keep: keptTrace,
      result: clusterTraces,
      lines: clusterTracesLines,
      exitCode: ({ failed }) => (failed.length > 0 ? 1 : 0),
    }),

  /** 0 when all nodes answer and no kernel has anything otherwise than desired, otherwise 1. */
  diff: () =>
    nodesQuery({
      timeout: COMPARISON,
      shape: both(differenceAnswer, aboutUnknown),
      keep: shortened,
      result: (answers, silent) => clusterDifferences(answers, answers.length + silent.length),
      lines: clusterDifferencesLines,
      exitCode: ({ asked, alike, unknownNames }) => (alike === asked && unknownNames.length === 0 ? 0 : 1),
    }),

  /** 0 when all nodes answer and one of them knows the Service, otherwise 1. */
  history() {
    const sum = new HistorySum();
    return nodesQuery({
      shape: historyOfNode,
      keep: (answer, node) => sum.add(node, answer),
      result: () => sum.result(),
      lines: ({ changes }, isWide) => historyLines(changes, isWide),
      names: ({ changes }) => changedServices(changes),
      exitCode: ({ unknownNames }) => (unknownNames.length > 0 ? 1 : 0),
    });
  },

  /** 0 when all nodes answer, otherwise 1. */
  top: () =>
    nodesQuery({
      shape: trafficAnswer,
      keep: (answer) => answer,
      result: (answers, silent) => sumTraffic(answers, answers.length + silent.length),
      lines: clusterTrafficLines,
      exitCode: () => 0,
    }),

  /** 0 when nothing differs but what is expected, 1 when something does, 2 when something is not understood. */
  compare: ({ comparison }) =>
    nodesQuery({
      timeout: comparison!.timeout,
      shape: nodeComparison,
      keep: (answer) => answer,
      result: clusterComparison,
      lines: clusterComparisonLines,
      exitCode: comparisonExit,
    }),
};

/** What is made of the answers of nodes. One serves once. */
export interface NodesQuery<Answer, Kept, Result extends object> extends KeptAnswers<Answer, Kept> {
  /** Milliseconds that a node may take; missing: the usual time. */
  readonly timeout?: number;
  /** @param silent the nodes that did not answer */
  result(answers: readonly NodeAnswer<Kept>[], silent: readonly SilentNode[]): Result | Promise<Result>;
  lines(result: Result, isWide: boolean): readonly string[];
  /** Of the objects that are listed, as kubectl writes them; missing: none are. */
  names?(result: Result): readonly string[];
  /** If all nodes have answered. */
  exitCode(result: Result): number;
  /** If only some have; missing: 1. */
  readonly incomplete?: number;
}
