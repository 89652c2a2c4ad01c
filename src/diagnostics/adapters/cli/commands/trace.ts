/** The command `trace`: the path of the first packet of a connection, from the proxy on this node or, with `answerRequest`, from manifests. */

import { exitCodeOf, ExitCode } from '../../../../adapters/cli/exit-code.js';
import type { Invocation, RequestOf } from '../options.js';
import { Option } from 'commander';
import { type TracedRules, CannotTraceError } from '../../../application/trace/trace-packets.js';
import {
  endTexts,
  parseNamedQuery,
  withoutNames,
  type ClusterNames,
  type ClusterPlace,
  type NamedQuery,
} from '../../../application/trace/named-ends.js';
import {
  InvalidQueryError,
  type TraceQuery,
  destinationText,
  sourceText,
} from '../../../domain/trace/query.js';
import { UsageError, rejectOperands } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputFormat } from '../options.js';
import { type FailedTrace, type TraceAnswer, traceAnswer } from '../../../application/trace/answer.js';
import { endpointName } from '../../../../domain/model/endpoint.js';
import { hostPort } from '../../../../domain/net/address.js';
import { formatted, jsonLine, print, inToneOf } from '../output.js';
import { open } from 'node:fs/promises';
import { errorMessage } from '../../../../application/error-message.js';
import { parseJsonQuery } from '../../../domain/trace/query.js';
import { QueryError, RunningProxy, limitedLines } from '../running-proxy.js';
import { NamedError } from '../../../../domain/model/named-error.js';
import { serviceExplanation } from '../../../application/explain/explanation.js';
import { findKeys } from '../find-services.js';
import { grouped } from '../../../../domain/model/maps.js';
import { foldSteps, type FoldedStep } from '../../../domain/trace/trace.js';
import { counted } from '../../../../application/words.js';
import { SOURCE_WORDS } from '../../../application/words.js';

interface TraceOptions {
  readonly from?: string;
  readonly to?: string;
  readonly namespace?: string;
  readonly queries?: string;
  readonly kernel?: boolean;
  readonly output?: OutputFormat;
}

/** Which packets to follow: that of one query, or those of a file of many; `-` is standard input. */
type TracedQueries =
  | { readonly query: TraceQuery }
  | { readonly named: NamedQuery }
  | { readonly queries: string };

export const traceCommand = subcommand({
  name: 'trace',
  description:
    'Show the path of the first packet of a connection through the rules. With --manifests, no proxy is queried.',
  summary: 'Show the path of a packet through the rules.',
  usage: '--from SOURCE --to DESTINATION [flags]',
  options: [
    new Option(
      '--from <source>',
      "The source: a pod's address, pod/NAME or NAMESPACE/NAME of a pod, node, or outside[:ADDRESS].",
    ),
    new Option(
      '--to <destination>',
      'ADDRESS:PORT[/PROTOCOL], [NAMESPACE/]NAME[:PORT] of a Service, or pod/NAME:PORT. By default TCP.',
    ),
    new Option('-n, --namespace <namespace>', 'The namespace of names without one.'),
    new Option('--kernel', 'Use the current rules of the kernel, including those of other programs.'),
    new Option(
      '--queries <file>',
      'A file of queries (- for standard input), one per line: {"from": SOURCE, "to": DESTINATION}.',
    ),
    ...outputOptions,
  ],
  request(operands, { kernel = false, output = 'text', ...options }: TraceOptions) {
    rejectOperands(operands, 'kubeproxy trace');
    const rules: TracedRules = kernel ? 'actual' : 'desired';
    return { rules, output, ...queriesOf(options) };
  },
});

function queriesOf({ from, to, namespace, queries }: TraceOptions): TracedQueries {
  if (queries !== undefined) {
    if (from === undefined && to === undefined) return { queries };
    throw new UsageError('trace takes either --queries, or --from and --to');
  }
  if (from === undefined || to === undefined)
    throw new UsageError(
      'trace takes --from SOURCE and --to ADDRESS:PORT[/PROTOCOL] or a Service, or --queries FILE',
    );
  try {
    return parseNamedQuery(from, to, namespace);
  } catch (error) {
    if (error instanceof InvalidQueryError) throw new UsageError(error.message);
    throw error;
  }
}

/** Follows packets through the rules of the proxy running on this node. 1 if one is rejected or dropped, or a query cannot be answered. */
export async function trace(invocation: Invocation<typeof traceCommand>): Promise<number> {
  const { request, configuration } = invocation;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const names: ClusterNames = {
    places: placesOfProxy(proxy),
    async reason(service) {
      const explained = await proxy.query(`/debug/explain?subject=${service}`, serviceExplanation);
      return explained.verdict.reason;
    },
    async pods(named) {
      // Only a pod that the proxy does not know needs the API server.
      const { podsOfCluster } = await import('../../kubernetes/user-cluster.js');
      return podsOfCluster(invocation)(named);
    },
  };
  return answerRequest(request, tracingByProxy(proxy, request.rules), names, async (named) => {
    if (!('pod' in named.from || 'pod' in named.to)) return undefined;
    const answer = await queryTrace(proxy, request.rules, endTexts(named));
    return 'error' in answer && answer.cause === 'UnknownPod' ? undefined : answered(answer);
  });
}

/** Answers queries, of a running proxy or from manifests. Rejects with an error for people if it cannot. */
type Tracing = (query: TraceQuery) => Promise<TraceAnswer>;

/**
 * Prints the results of packets. 1 if one is rejected or dropped, or a query cannot be answered.
 * @param byName answers a query of names if it can, otherwise undefined
 */
export async function answerRequest(
  request: RequestOf<typeof traceCommand>,
  tracing: Tracing,
  names: ClusterNames,
  byName: (named: NamedQuery) => Promise<TraceAnswer | undefined> = () => Promise.resolve(undefined),
): Promise<ExitCode> {
  if ('queries' in request) return answerLines(request.queries, tracing);
  try {
    const answer =
      'query' in request
        ? await tracing(request.query)
        : ((await byName(request.named)) ?? (await tracing(await withoutNames(request.named, names))));
    await print(printed(answer, request));
    return exitCodeOf(!hasPassed(answer));
  } catch (error) {
    // Programs get one JSON object, whatever comes of it.
    if (!(error instanceof CannotTraceError) || request.output !== 'json') throw error;
    await print(jsonLine({ error: error.message }));
    return ExitCode.problem;
  }
}

/** JSON as one line, as for the queries of a file. */
function printed(answer: TraceAnswer, { output, rules }: RequestOf<typeof traceCommand>): string {
  if (output === 'json') return jsonLine(answer);
  return formatted(output, answer, (value, isWide) => traceLines(value, rules, isWide));
}

/** Characters of a query. */
const LONGEST = 64 * 1024;

/**
 * Answers the queries of a file, or of standard input for `-`, in their order, each before the next is read. Returns 1 if a
 * packet is rejected or dropped, or a query cannot be answered, otherwise 0.
 * @throws QueriesError, and QueryError if no proxy can be invocation
 */
async function answerLines(path: string, tracing: Tracing): Promise<ExitCode> {
  let hasProblem = false;
  for await (const line of linesOf(path)) {
    if (line.trim() === '') continue;
    const answer = await answerOf(line, tracing);
    if (!hasPassed(answer)) hasProblem = true;
    await print(jsonLine(answer));
  }
  return exitCodeOf(hasProblem);
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    const input = path === '-' ? process.stdin : (await open(path)).createReadStream();
    yield* limitedLines(input as AsyncIterable<Buffer>, LONGEST);
  } catch (error) {
    throw new QueriesError(path, error);
  }
}

async function answerOf(line: string, tracing: Tracing): Promise<TraceAnswer | FailedTrace> {
  try {
    return await tracing(parseJsonQuery(line));
  } catch (error) {
    if (error instanceof QueryError) throw error;
    return { error: errorMessage(error) };
  }
}

/** The queries of a file cannot be read. */
export class QueriesError extends NamedError {
  constructor(path: string, cause: unknown) {
    const place = path === '-' ? 'on standard input' : `in ${path}`;
    super(`cannot read the queries ${place}: ${errorMessage(cause)}`, { cause });
  }
}

/** The proxy that runs on this node answers. Rejects with QueryError if none does. */
export function tracingByProxy(proxy: RunningProxy, rules: TracedRules): Tracing {
  return async (query) =>
    answered(await queryTrace(proxy, rules, { from: sourceText(query.from), to: destinationText(query) }));
}

function queryTrace(
  proxy: RunningProxy,
  rules: TracedRules,
  ends: { readonly from: string; readonly to: string },
): Promise<TraceAnswer | FailedTrace> {
  const parameters = new URLSearchParams({ ...ends, ...(rules === 'actual' && { kernel: 'true' }) });
  return proxy.query(`/debug/trace?${parameters.toString()}`, traceAnswer);
}

/** @throws CannotTraceError */
function answered(answer: TraceAnswer | FailedTrace): TraceAnswer {
  if ('error' in answer) throw new CannotTraceError(answer.error);
  return answer;
}

/** Those that the proxy running on this node serves. */
function placesOfProxy(proxy: RunningProxy): ClusterNames['places'] {
  return async ({ service }) => {
    const places: ClusterPlace[] = [];
    const { keys } = await findKeys(proxy, [{ service }]);
    for (const key of keys) {
      const { families } = await proxy.query(
        `/debug/explain?${new URLSearchParams({ subject: key }).toString()}`,
        serviceExplanation,
      );
      for (const { family, ports } of families)
        for (const { portName, protocol, frontends } of ports)
          for (const { kind, address, port: number } of frontends)
            if (kind === 'cluster-ip' && address !== undefined)
              places.push({ service: key, port: portName, number, protocol, family, address });
    }
    return places;
  };
}

/** As many as fit on a screen. */
const STEPS_SHOWN = 16;
/** From this number on, endpoints with the same probability share one line. */
const MANY_ENDPOINTS = 9;

/**
 * An answer for people: the path of the packet, then its verdict. Steps that all endpoints share are shown once.
 * @param isWide with all steps and all endpoints
 */
export function traceLines(answer: TraceAnswer, rules: TracedRules, isWide: boolean): readonly string[] {
  const { remarks } = answer;
  const steps = isWide ? answer.steps.map((step) => ({ step, alike: [] })) : foldSteps(answer.steps);
  const shown = isWide ? steps : steps.slice(0, STEPS_SHOWN);
  const more = steps.length - shown.length;
  return [
    heading(answer, rules),
    ...shown.flatMap(stepLines),
    ...(more > 0 ? [`  … ${counted(more, 'more step')}; -o wide shows all`] : []),
    ...(steps.length === 0 ? ['  no rule concerns it'] : []),
    ...outcomeLines(answer, isWide),
    ...remarks.map((remark) => `note: ${remark}`),
    ...(answer.uncertain ? ['note: uncertain; the steps say why'] : []),
  ];
}

/** The same, also of a query that could not be answered. */
export function tracedLines(
  answer: TraceAnswer | FailedTrace,
  rules: TracedRules,
  isWide: boolean,
): readonly string[] {
  return 'error' in answer ? [`Error: ${answer.error}`] : traceLines(answer, rules, isWide);
}

/** Whether all packets are forwarded, or left to the routes of the node. */
export function hasPassed(answer: TraceAnswer | FailedTrace): boolean {
  return !('error' in answer) && ['forward', 'untouched'].includes(answer.outcome);
}

function heading({ packet }: TraceAnswer, rules: TracedRules): string {
  const { source, inputInterface, destination, destinationPort, protocol } = packet;
  const way = inputInterface === undefined ? 'sent by this node' : `coming in through ${inputInterface}`;
  const which = rules === 'actual' ? "the kernel's rules" : 'the desired rules';
  const to = `${hostPort(destination, destinationPort)}/${protocol}`;
  return `${source || 'node'} → ${to}, ${way}, by ${which}`;
}

function stepLines({ step, alike }: FoldedStep): readonly string[] {
  const { hook, where, rule, effect, servicePort, foreign } = step;
  const owner = foreign
    ? '  (rule of another program)'
    : servicePort === undefined
      ? ''
      : `  (${servicePort})`;
  return [
    `  ${hook}: ${where}${owner}`,
    ...(rule === '' ? [] : [`    ${rule}`]),
    `    → ${effect}`,
    ...(alike.length > 0 ? [`    … and ${alike.length} more like it, for other endpoints`] : []),
  ];
}

function outcomeLines(
  { outcome, reason, endpoints, sourceRewrite, sticky, steps }: TraceAnswer,
  isWide: boolean,
): readonly string[] {
  const lines = [`outcome: ${inToneOf(outcome)}`, ...(reason === undefined ? [] : [`  because ${reason}`])];
  const equal = grouped(endpoints, ({ probability }) => (probability * 100).toFixed(1).padStart(5));
  for (const [percent, alike] of equal) {
    const places = alike.map(endpointName);
    const told =
      isWide || places.length < MANY_ENDPOINTS
        ? places
        : [`each of ${counted(places.length, 'endpoint')}, such as ${places[0]}; -o wide names them`];
    lines.push(...told.map((text) => `  ${percent} %  ${text}`));
  }
  if (endpoints.length === 0) return lines;
  lines.push(`source: ${SOURCE_WORDS[sourceRewrite]}`);
  const rewriting = steps.find(({ effect }) => /masquerade|rewrites the source/.test(effect));
  if (sourceRewrite !== 'never' && rewriting)
    lines.push(`  because of ${rewriting.where}: ${rewriting.rule}`);
  lines.push(`affinity: ${sticky ? 'the same client gets the same endpoint again' : 'none'}`);
  return lines;
}
