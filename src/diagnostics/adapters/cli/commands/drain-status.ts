/** The command `drain-status`: the connections that still lead to endpoints which are about to stop. */

import { setTimeout as pause } from 'node:timers/promises';
import { Option } from 'commander';
import { exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { counted, parseDuration } from '../../../../application/words.js';
import { fields, having, text } from '../../../../domain/shape.js';
import { UnknownPodError } from '../../../application/trace/named-ends.js';
import { readDrainTargets } from '../../../application/drain/report-drain.js';
import {
  drainPlace,
  drainStatus as statusOf,
  nodeDrain,
  type NodeDrain,
  type DrainingEndpoint,
  type DrainStatus,
} from '../../../domain/drain.js';
import {
  durationBetween,
  outputOptions,
  subcommand,
  type Invocation,
  type OutputOptions,
} from '../options.js';
import { columns, formatted, inToneOf, print } from '../output.js';
import { QueryError, RunningProxy } from '../running-proxy.js';

interface DrainOptions extends OutputOptions {
  readonly namespace?: string;
  readonly wait?: boolean;
  readonly timeout: string;
}

/** Which endpoints are meant, and whether to wait until they may stop. */
export const drainStatusCommand = subcommand({
  name: 'drain-status',
  description:
    'Show the open connections through this node to endpoints of pods or nodes, or to all endpoints that terminate.',
  summary: 'Show the connections to endpoints that terminate.',
  usage: '[NODE|POD|ADDRESS...] [flags]',
  options: [
    new Option('-n, --namespace <namespace>', 'The namespace of pods without one.'),
    new Option('--wait', 'Wait until no connection leads there.'),
    new Option('--timeout <duration>', 'How long to wait, at most.')
      .default('30s')
      .argParser(durationBetween('1s', '24h')),
    ...outputOptions,
  ],
  request(operands, { namespace, wait = false, timeout, output }: DrainOptions) {
    const targets = readDrainTargets(operands, namespace);
    if (typeof targets === 'string')
      throw new UsageError(
        `drain-status takes the name of a node, pod/NAME or NAMESPACE/NAME of a pod, or an address, got ${JSON.stringify(targets)}`,
      );
    return { targets, waitMilliseconds: wait ? parseDuration(timeout)! : undefined, output };
  },
});

/** Reading a million connections takes some seconds. Milliseconds. */
export const READING = 60_000;

const drainAnswer = having('error', fields({ error: text }), nodeDrain);

/** Between two queries while waiting. Milliseconds. */
const REST = 1_000;

/**
 * Shows the connections through this node that lead to endpoints. 0 if there are none, and no new ones can follow; 1 otherwise, also when the
 * time to wait is over.
 */
export async function drainStatus({
  request,
  configuration,
}: Invocation<typeof drainStatusCommand>): Promise<number> {
  const { targets, waitMilliseconds, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const parameters = new URLSearchParams(
    [
      ...targets.nodes.map((node) => `node/${node}`),
      ...targets.pods.map(({ pod }) => `pod/${pod}`),
      ...targets.addresses,
    ].map((target): [string, string] => ['target', target]),
  );
  const query = async (): Promise<NodeDrain> => {
    const answer = await proxy.query(`/debug/drain?${parameters}`, drainAnswer, READING);
    if ('error' in answer) throw new UnknownPodError(answer.error);
    return answer;
  };
  const answer = await untilDone(query, (one) => statusOf([one]).safe, waitMilliseconds);
  const status = statusOf([answer]);
  await print(
    output === 'json' || output === 'yaml'
      ? formatted(output, answer, () => [])
      : formatted(output, status, (all, isWide) => drainLines(all, isWide, false)),
  );
  return exitCodeOf(!status.safe);
}

/**
 * Repeats a query until its answer is final or the time is over, and returns the last answer. Once it was answered, errors are retried in
 * that time, too.
 * @param milliseconds undefined: it is sent once
 */
export async function untilDone<Answer>(
  query: () => Promise<Answer>,
  isDone: (answer: Answer) => boolean,
  milliseconds = 0,
): Promise<Answer> {
  const end = performance.now() + milliseconds;
  let answer = await query();
  let failure: QueryError | undefined;
  while ((failure || !isDone(answer)) && performance.now() < end) {
    await pause(Math.min(REST, Math.max(0, end - performance.now())));
    try {
      answer = await query();
      failure = undefined;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      failure = error;
    }
  }
  if (failure) throw failure;
  return answer;
}

const HEADERS = ['ENDPOINT', 'POD', 'NODE', 'TERMINATING SINCE', 'OPEN', 'FROM', 'STATE', 'SERVICES'];

/**
 * A line for each endpoint, and whether all may stop.
 * @param isWide with the Services
 * @param isWhole whether it is about all nodes, and not this one alone
 */
export function drainLines(status: DrainStatus, isWide: boolean, isWhole = true): readonly string[] {
  const { endpoints, unseenNodes } = status;
  const shown = (cells: readonly string[]): readonly string[] => (isWide ? cells : cells.slice(0, -1));
  return [
    ...(endpoints.length > 0
      ? columns(
          shown(HEADERS),
          endpoints.map((one) => shown(cellsOf(one))),
        )
      : []),
    ...unseenNodes.map(({ node, reason }) => `${inToneOf('unknown', 'not seen')}: ${node} (${reason})`),
    verdictOf(status, isWhole),
  ];
}

function cellsOf(endpoint: DrainingEndpoint): readonly string[] {
  const { pod = '-', nodeName = '-', terminatingSinceTime = '-', services, nodes } = endpoint;
  const from = nodes.map(({ node, openConnections }) => `${node} (${openConnections})`);
  return [
    drainPlace(endpoint),
    pod,
    nodeName,
    terminatingSinceTime,
    String(endpoint.openConnections),
    from.join(', ') || '-',
    stateText(endpoint),
    services.join(', ') || '-',
  ];
}

function stateText({ state, nodes, unawareNodes }: DrainingEndpoint): string {
  const using = nodes.filter(({ inUse }) => inUse).map(({ node }) => node);
  if (state === 'in-use') return inToneOf(state, `gets new connections from ${using.join(', ')}`);
  if (state === 'unknown' && unawareNodes.length > 0)
    return inToneOf(state, `unknown to ${unawareNodes.join(', ')}`);
  return inToneOf(state);
}

function verdictOf({ safe, endpoints }: DrainStatus, isWhole: boolean): string {
  if (safe && !isWhole) return 'no connection through this node leads there';
  if (safe)
    return `${inToneOf('safe', 'safe to stop')}: ${endpoints.length === 0 ? 'no endpoint is found' : 'no connection leads there'}`;
  const open = endpoints.reduce((sum, { openConnections }) => sum + openConnections, 0);
  const used = endpoints.filter(({ state }) => state === 'in-use').length;
  const reason =
    open > 0
      ? counted(open, 'open connection')
      : used > 0
        ? `${counted(used, 'endpoint gets', 'endpoints get')} new connections`
        : 'not every node is known to have no connection';
  return `${inToneOf('draining', 'not safe to stop')}: ${reason}`;
}
