import { askNodes } from '../../../application/cluster/ask-nodes.js';
import { podAddress } from '../../../application/trace/named-pod.js';
import type { FoundProxies } from '../../../application/ports/node-proxies.js';
import type { UnknownName } from '../../../application/status/service-row.js';
import type { Asked } from '../command-line/subcommands.js';
import { CANNOT_ASK, CannotAskError } from '../asking/cannot-ask-error.js';
import { complainOf } from '../asking/unknown-service.js';
import { formatted } from '../output/formatted.js';
import { complain, print } from '../output/print.js';
import { noAnswerLines } from '../texts/cluster/grouped-nodes.js';
import { questions } from './questions.js';
import { openProxyPods } from './open-proxy-pods.js';
import { podsOfCluster } from './pods-of-cluster.js';
import { askApiServer } from './user-api-client.js';

/** How long one proxy usually may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/**
 * Asks the proxies of all nodes and prints what they say. The exit code is the question's, or 3 when no node answers.
 * @param timeout milliseconds that every node may take, whatever it is asked; missing: as the question needs
 * @throws CannotAskError when no proxy can be found
 */
export async function askCluster(asked: Asked<'cluster'>, timeout?: number): Promise<number> {
  const { question, access, output } = asked.request;
  const put = await questions[question.kind](question);
  const words = await wordsOf(asked);
  const { proxies, unknown } = await find(asked);
  for (const problem of unknown) complain(`not known: ${problem}`);
  const limited = { ...put, words, timeout: timeout ?? put.timeout ?? TIMEOUT };
  const { answers, silent } = await askNodes(proxies, limited, access.parallel);
  const result = { ...(await put.result(answers, silent)), silent };
  const lines = (shown: typeof result, isWide: boolean): readonly string[] => [
    ...put.lines(shown, isWide),
    ...noAnswerLines(shown.silent, isWide && question.kind === 'status'),
  ];
  await print(formatted(output, result, lines));
  if ('unknown' in result) complainOf(result.unknown as readonly UnknownName[]);
  if (answers.length === 0) return CANNOT_ASK;
  return silent.length > 0 ? (put.incomplete ?? 1) : put.exitCode(result);
}

/**
 * Nodes know no pods: they get the address of the one that is named.
 * @throws CannotTraceError if it is not clear which that is
 */
async function wordsOf(asked: Asked<'cluster'>): Promise<readonly string[]> {
  const { question, access } = asked.request;
  const { words, sender } = question;
  if (!sender) return words;
  const known = await podsOfCluster(asked, access.context)(sender.from);
  return [...words, '--from', podAddress(sender.from, known, sender.family).text];
}

async function find(asked: Asked<'cluster'>): Promise<FoundProxies> {
  const { proxyNamespace: namespace, selector } = asked.request.access;
  const found = await askApiServer(async () => (await openProxyPods(asked)).list());
  if (found.proxies.length > 0) return found;
  throw new CannotAskError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
  );
}
