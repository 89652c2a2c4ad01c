import { askNodes } from '../../../application/cluster/ask-nodes.js';
import { podAddress } from '../../../application/trace/named-pod.js';
import type { ClusterStatus } from '../../../application/cluster/cluster-status.js';
import type { FoundProxies, NodeProxies } from '../../../application/ports/node-proxies.js';
import type { UnknownName } from '../../../application/status/service-row.js';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import type { Asked } from '../command-line/subcommands.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import { complainOf } from '../asking/unknown-service.js';
import { formatted } from '../output/formatted.js';
import { printError } from '../../../../adapters/cli/print-error.js';
import { print } from '../output/print.js';
import { noAnswerLines } from '../texts/cluster/grouped-nodes.js';
import type { ClusterAccess } from '../arguments/cluster.js';
import type { OutputFormat } from '../command-line/options.js';
import { untilUserEnds } from '../watching/until-user-ends.js';
import { watch } from '../watching/watch.js';
import type { ClusterQuestion } from '../arguments/question.js';
import { explainServices } from './explain-services.js';
import { questions } from './questions.js';
import { watchedNodes } from './watched-nodes.js';
import { openComparisonPods, openProxyPods } from './open-proxy-pods.js';
import { exitCode, type AskNodes, type Told } from './told.js';
import { podsOfCluster, askApiServer } from '../../kubernetes/user-cluster.js';
/** How long one proxy usually may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/** From the answers of all nodes to the next question, when they are watched: each asks all of them. Milliseconds. */
const REST = 5_000;

/**
 * Asks the proxies of all nodes and prints what they say. The exit code is the question's, or 3 when no node answers.
 * @param timeout milliseconds that every node may take, whatever it is asked; missing: as the question needs
 * @throws CannotAskError when no proxy can be found
 */
export async function askCluster(asked: Asked<'cluster'>, timeout?: number): Promise<number> {
  const { comparison } = asked.request.question;
  if (!comparison) return askWith(asked, () => openProxyPods(asked), timeout);
  return untilUserEnds(({ signal }) => askWith(asked, () => openComparisonPods(asked, comparison, signal)));
}

async function askWith(
  asked: Asked<'cluster'>,
  open: () => Promise<NodeProxies>,
  timeout?: number,
): Promise<number> {
  const { question, output, watch: isWatched } = asked.request;
  const { kind } = question;
  // What it needs is made before anybody is asked.
  const first = await questions[kind](question);
  const words = await wordsOf(asked);
  const pods = await askApiServer(open);
  const ask: AskNodes = (put, words) => tell(put, words, pods, asked, timeout);
  if (isWatched) return watchStatus(async () => ask(await questions.status(question), words), output);
  if (kind === 'explain') return explain(question, ask, output);
  const all = await ask(first, words);
  complainOfNodes(all);
  await print(formatted(output, all.result, linesOf(all, kind === 'status'), all.put.names));
  if ('unknown' in all.result) complainOf(all.result.unknown as readonly UnknownName[]);
  return exitCode(all);
}

/** What is known of each Service, with an empty line between them. */
async function explain(question: ClusterQuestion, ask: AskNodes, output: OutputFormat): Promise<number> {
  const { all, exitCode } = await explainServices(question, ask);
  const [only] = all;
  if (!only) return exitCode;
  complainOfNodes(only);
  const results = all.map(({ result }) => result);
  const text =
    all.length === 1 && question.services.length === 1
      ? formatted(output, only.result, linesOf(only))
      : formatted(output, results, (shown, isWide) =>
          shown.flatMap((result, index) => [...(index > 0 ? [''] : []), ...linesOf(only)(result, isWide)]),
        );
  await print(text);
  return exitCode;
}

/** @param isInFull whether all that is known of silent nodes is told where the format is wide */
function linesOf({ put }: Told, isInFull = false) {
  return (shown: Told['result'], isWide: boolean): readonly string[] => [
    ...put.lines(shown, isWide),
    ...noAnswerLines(shown.silent, isWide && isInFull),
  ];
}

async function tell(
  put: Told['put'],
  words: readonly string[],
  pods: NodeProxies,
  { request: { access } }: Asked<'cluster'>,
  timeout?: number,
): Promise<Told> {
  const { proxies, unknown } = await find(pods, access);
  const limited = { ...put, words, timeout: timeout ?? put.timeout ?? TIMEOUT };
  const { answers, silent } = await askNodes(proxies, limited, access.parallel);
  return {
    put,
    result: { ...(await put.result(answers, silent)), silent },
    answered: answers.length,
    unknown,
  };
}

function complainOfNodes({ unknown }: Told): void {
  for (const problem of unknown) printError(`not known: ${problem}`);
}

/** The exit code is that of the last answers. */
async function watchStatus(ask: () => Promise<Told>, output: OutputFormat): Promise<number> {
  let last: Told | undefined;
  const askAgain = async () => {
    const told = await ask();
    if (!last) complainOfNodes(told);
    last = told;
    return watchedNodes(told.result as ClusterStatus & Told['result']);
  };
  await untilUserEnds(({ signal }) => watch(askAgain, output, signal, () => REST));
  return last ? exitCode(last) : 0;
}

/**
 * Nodes know no pods: they get the address of the one that is named.
 * @throws CannotTraceError if it is not clear which that is
 */
async function wordsOf(asked: Asked<'cluster'>): Promise<readonly string[]> {
  const { question, access } = asked.request;
  const { words, sender, comparison } = question;
  if (comparison) return [...words, '--plan', modeOf(asked)];
  if (!sender) return words;
  const known = await podsOfCluster(asked, access.context)(sender.from);
  return [...words, '--from', podAddress(sender.from, known, sender.family).text];
}

/** @throws UsageError */
function modeOf({ configuration }: Asked<'cluster'>): SideMode {
  const mode = SIDE_MODES.find((one) => one === configuration.mode);
  if (mode) return mode;
  throw new UsageError(`compare takes --proxy-mode ${SIDE_MODES.join(', ')}`, 'kubectl kubeproxy compare');
}

async function find(pods: NodeProxies, access: ClusterAccess): Promise<FoundProxies> {
  const found = await askApiServer(() => pods.list());
  if (found.proxies.length > 0) return found;
  const { proxyNamespace: namespace, selector } = access;
  throw new CannotAskError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
  );
}
