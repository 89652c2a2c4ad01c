/** For each command of the plugin: how the answer of one node is shown, and how those of all nodes become one result. */

import type { QueryKind, ClusterQuery } from './cluster-command.js';
import { both, listOrOne, type Shape } from '../../../../domain/shape.js';
import { historyAnswer } from '../../../../application/status/change-entry.js';
import {
  clusterComparison,
  nodeComparison,
  shortened,
} from '../../../application/cluster/cluster-comparison.js';
import { foldExplanations } from '../../../application/cluster/cluster-explanation.js';
import { HistorySum, sumTraffic } from '../../../application/cluster/cluster-activity.js';
import { ServicesSum, clusterStatus } from '../../../application/cluster/cluster-status.js';
import {
  foldNodes,
  unknownEverywhere,
  type KeptAnswers,
  type NodeAnswer,
  type AboutNodes,
  type NodeGroup,
} from '../../../application/cluster/query-nodes.js';
import {
  differenceAnswer,
  isNone,
  type DifferenceReport,
} from '../../../application/difference/difference-report.js';
import { explanationAnswer } from '../../../application/explain/explanation.js';
import { statusAnswer, type ProxyStatus } from '../../../application/status/proxy-status.js';
import { aboutUnknown, servicesAnswer, type AboutUnknown } from '../../../application/status/service-row.js';
import { traceAnswer } from '../../../application/trace/answer.js';
import { drainStatus, nodeDrain } from '../../../domain/drain.js';
import { trafficAnswer } from '../../../domain/traffic.js';
import { drainLines, READING } from '../commands/drain-status.js';
import { differenceLines } from '../commands/diff.js';
import { allExplainedLines, isOk } from '../commands/explain.js';
import { changedServices, historyLines } from '../commands/history.js';
import { serviceListLines } from '../commands/services.js';
import { proxyStatusLines } from '../commands/status.js';
import { hasUnresponsive, trafficLines } from '../commands/top.js';
import { hasPassed, tracedLines } from '../commands/trace.js';
import {
  clientVersionText,
  proxyVersionText,
  versionLines,
  type ClientVersion,
} from '../commands/version.js';
import { inToneOf, objectName } from '../output.js';
import { COMPARISON } from '../running-proxy.js';
import { clusterComparisonLines } from './comparison-text.js';
import {
  clusterExplanationLines,
  clusterServicesLines,
  clusterStatusLines,
  clusterTrafficLines,
  groupLines,
} from './texts.js';

/** What is made of the answers of nodes. One serves once. */
export interface NodesQuery<Answer, Kept, Result extends object> extends KeptAnswers<Answer, Kept> {
  /** Milliseconds that a node may take; missing: the usual time. */
  readonly timeout?: number;
  /** @param isComplete whether all nodes of the cluster have answered */
  result(answers: readonly NodeAnswer<Kept>[], isComplete: boolean): Result;
  lines(result: Result & AboutNodes, isWide: boolean): readonly string[];
  /** Of the objects that are listed, as kubectl writes them; missing: none are. */
  names?(result: Result): readonly string[];
  hasProblem(result: Result): boolean;
  /** The list of objects in the result, for `-w`; missing: nothing is watched. */
  readonly listed?: Listed;
  /** What of such an object is a change to those who watch; missing: everything. */
  essence?(item: object): unknown;
  /** How the command prints the answer of one node alone; missing: as those of all. */
  readonly single?: SingleNode<Answer>;
}

interface Listed {
  readonly field: string;
  /** Which object of another answer is the same. */
  keyOf(item: object): string;
  /** One line an object, below a header. */
  readonly isTable: boolean;
}

const byNode: Listed = {
  field: 'nodes',
  keyOf: (row) => (row as { readonly node: string }).node,
  isTable: true,
};
const byName: Listed = {
  field: 'services',
  keyOf: (row) => {
    const { namespace, name } = row as { readonly namespace: string; readonly name: string };
    return `${namespace}/${name}`;
  },
  isTable: true,
};
const byContent: Listed = { field: 'changes', keyOf: JSON.stringify, isTable: true };
const byGroup: Listed = {
  field: 'groups',
  keyOf: (group) => (group as NodeGroup<unknown>).nodes.join(),
  isTable: false,
};

/** How a command prints the answer of a node. */
interface NodeView<Answer> {
  lines(answer: Answer, isWide: boolean): readonly string[];
  names?(answer: Answer): readonly string[];
  hasProblem(answer: Answer): boolean;
}

/** How a command prints the answer of one node alone: as it does on the node. */
interface SingleNode<Answer> extends NodeView<Answer> {
  /** What is printed as JSON, if it is not the answer. */
  value?(answer: Answer): unknown;
}

/** The types of one query are its own. */
export type AnyQuery = NodesQuery<unknown, unknown, object>;
const nodesQuery = <Answer, Kept, Result extends object>(one: NodesQuery<Answer, Kept, Result>): AnyQuery =>
  one;

interface Grouped<Answer> extends AboutUnknown {
  readonly groups: readonly NodeGroup<Answer>[];
}

/** Nodes that agree are folded. @param key what of an answer is compared */
function folded<Answer extends object>(
  shape: Shape<Answer>,
  view: NodeView<Answer>,
  key: (answer: Answer) => unknown,
  headOf: (answer: Answer) => readonly [string, string],
): NodesQuery<Answer, Answer, Grouped<Answer>> {
  return {
    shape,
    keep: (answer) => answer,
    result: (answers) => ({ groups: foldNodes(answers, (answer) => JSON.stringify(key(answer))) }),
    lines: ({ groups, queriedNodes: queried }, isWide) =>
      // The first line has the error.
      groupLines(groups, { queried, isWide }, headOf, (answer) =>
        'error' in answer ? [] : view.lines(answer, isWide),
      ),
    hasProblem: ({ groups }) => groups.some(({ answer }) => view.hasProblem(answer)),
    single: view,
  };
}

type VersionStatus = Pick<ProxyStatus, 'mode' | 'versions'>;

const historyOfNode = both(historyAnswer, aboutUnknown);
const differenceOfNode = both(differenceAnswer, aboutUnknown);
const trafficOfNode = both(trafficAnswer, aboutUnknown);

/** The answer about one subject, or about several. */
const explanations = listOrOne(explanationAnswer);

/** The commands for all nodes but `dump`. */
export const nodesQueries: {
  readonly [Kind in Exclude<QueryKind, 'dump'>]: (query: ClusterQuery, client: ClientVersion) => AnyQuery;
} = {
  status: () =>
    nodesQuery({
      shape: statusAnswer,
      keep: (answer) => answer,
      result: clusterStatus,
      lines: clusterStatusLines,
      names: ({ nodes }) => nodes.map(({ node }) => objectName('node', node)),
      hasProblem: ({ nodes }) => nodes.some(({ state }) => state !== 'ok'),
      listed: byNode,
      // How long a change waits is different at any moment.
      essence: (row) => ({ ...row, lagSeconds: 0 }),
      single: { lines: proxyStatusLines, hasProblem: ({ state }) => state !== 'ok' },
    }),

  services() {
    const sum = new ServicesSum();
    return nodesQuery({
      shape: servicesAnswer,
      keep: (answer, node) => sum.add(node, answer),
      result: () => sum.result(),
      lines: clusterServicesLines,
      names: ({ services }) => services.map(({ name }) => objectName('service', name)),
      hasProblem: ({ services }) => services.some(({ verdicts }) => verdicts[0]?.state !== 'ok'),
      listed: byName,
      single: {
        lines: serviceListLines,
        names: ({ services }) => services.map(({ name }) => objectName('service', name)),
        hasProblem: ({ services }) => services.some(({ state }) => state !== 'ok'),
      },
    });
  },

  explain: () =>
    nodesQuery({
      shape: explanations,
      keep: (answer) => answer,
      result: (answers) => ({ subjects: foldExplanations(answers) }),
      lines: ({ subjects, queriedNodes }, isWide) =>
        subjects.flatMap((subject, index) => [
          ...(index > 0 ? [''] : []),
          ...clusterExplanationLines(subject, queriedNodes, isWide),
        ]),
      hasProblem: ({ subjects }) =>
        subjects.some(
          ({ groups, differingNodes }) =>
            differingNodes.length > 0 || groups.some(({ answer }) => !isOk(answer)),
        ),
      single: {
        value: (all) => (all.length === 1 ? all[0] : all),
        lines: allExplainedLines,
        hasProblem: (all) => !all.every(isOk),
      },
    }),

  trace: ({ words }) =>
    nodesQuery(
      folded(
        traceAnswer,
        {
          lines: (answer, isWide) =>
            tracedLines(answer, words.includes('--kernel') ? 'actual' : 'desired', isWide),
          hasProblem: (answer) => !hasPassed(answer),
        },
        (answer) =>
          'error' in answer
            ? answer.error
            : [answer.outcome, answer.reason, answer.endpoints, answer.sourceRewrite],
        (answer) =>
          'error' in answer
            ? ['error ', `: ${answer.error}`]
            : [`${inToneOf(answer.outcome)} `, answer.reason === undefined ? '' : `: ${answer.reason}`],
      ),
    ),

  diff: () => {
    const query = folded<DifferenceReport & AboutUnknown>(
      differenceOfNode,
      {
        lines: differenceLines,
        hasProblem: (report) => !isNone(report),
      },
      ({ mode, families }) => [mode, families],
      (report) => [isNone(report) ? 'no difference ' : 'differences ', ''],
    );
    return nodesQuery({
      ...query,
      listed: byGroup,
      timeout: COMPARISON,
      keep: shortened,
      result: (answers) => ({
        ...query.result(answers, true),
        unknownNames: unknownEverywhere(answers.map(({ answer }) => answer.unknownNames ?? [])),
      }),
    });
  },

  history({ words }) {
    const limit = words.indexOf('--limit');
    const sum = limit < 0 ? new HistorySum() : new HistorySum(Number(words[limit + 1]));
    return nodesQuery({
      shape: historyOfNode,
      keep: (answer, node) => sum.add(node, answer),
      result: () => sum.result(),
      lines: ({ changes }, isWide) => historyLines(changes, isWide),
      names: ({ changes }) => changedServices(changes),
      hasProblem: () => false,
      listed: byContent,
      single: {
        lines: ({ changes }, isWide) => historyLines(changes, isWide),
        names: ({ changes }) => changedServices(changes),
        hasProblem: () => false,
      },
    });
  },

  top: () =>
    nodesQuery({
      shape: trafficOfNode,
      keep: (answer) => answer,
      result: sumTraffic,
      lines: clusterTrafficLines,
      hasProblem: (sum) => hasUnresponsive(sum),
      single: { lines: trafficLines, hasProblem: hasUnresponsive },
    }),

  'drain-status': () =>
    nodesQuery({
      timeout: READING,
      shape: nodeDrain,
      keep: (answer) => answer,
      result: (answers, isComplete) =>
        drainStatus(
          answers.map(({ node, answer }) => ({ ...answer, node })),
          isComplete,
        ),
      lines: (status, isWide) => drainLines(status, isWide),
      hasProblem: ({ safe }) => !safe,
    }),

  compare: ({ comparison }) =>
    nodesQuery({
      timeout: comparison!.timeout,
      shape: nodeComparison,
      keep: (answer) => answer,
      result: clusterComparison,
      lines: clusterComparisonLines,
      hasProblem: ({ nodes }) => nodes.some(({ result }) => result !== 'equal'),
    }),

  version: (_, client) => {
    const versionsOf = ({ mode, versions }: VersionStatus) => ({ client, proxy: { ...versions, mode } });
    const query = folded<VersionStatus>(
      statusAnswer,
      { lines: () => [], hasProblem: () => false },
      ({ mode, versions }) => [mode, versions],
      (status) => ['proxy ', `: ${proxyVersionText(status)}`],
    );
    return nodesQuery({
      ...query,
      keep: ({ mode, versions }) => ({ mode, versions }),
      result: (answers) => ({ client, ...query.result(answers, true) }),
      lines: (result, isWide) => [clientVersionText(client), ...query.lines(result, isWide)],
      single: {
        value: versionsOf,
        lines: (status) => versionLines(versionsOf(status)),
        hasProblem: () => false,
      },
    });
  },
};
