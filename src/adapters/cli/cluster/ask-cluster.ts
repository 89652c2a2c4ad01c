import { ApiConnectionError, ApiError, ApiProtocolError } from '../../kubernetes/client/api-error.js';
import { KubeconfigError } from '../../kubernetes/connection/connection.js';
import { askNodes } from '../../../application/cluster/ask-nodes.js';
import { errorMessage } from '../../../application/error-message.js';
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

/** How long one proxy usually may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/** Of the API server, and on the way to it. */
const FAILURES = [ApiError, ApiConnectionError, ApiProtocolError, KubeconfigError];

/**
 * Asks the proxies of all nodes and prints what they say. The exit code is the question's, or 3 when no node answers.
 * @param timeout milliseconds that every node may take, whatever it is asked; missing: as the question needs
 * @throws CannotAskError when no proxy can be found
 */
export async function askCluster(asked: Asked<'cluster'>, timeout?: number): Promise<number> {
  const { question, access, output } = asked.request;
  const put = await questions[question.kind](question);
  const { proxies, unknown } = await find(asked);
  for (const problem of unknown) complain(`not known: ${problem}`);
  const limited = { ...put, words: question.words, timeout: timeout ?? put.timeout ?? TIMEOUT };
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

async function find(asked: Asked<'cluster'>): Promise<FoundProxies> {
  const { proxyNamespace: namespace, selector } = asked.request.access;
  try {
    const found = await (await openProxyPods(asked)).list();
    if (found.proxies.length > 0) return found;
  } catch (error) {
    throw cannotAsk(error);
  }
  throw new CannotAskError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with --proxy-namespace and -l`,
  );
}

/** As CannotAskError, if it is the API server's or on the way to it. */
export function cannotAsk(error: unknown): unknown {
  if (!FAILURES.some((kind) => error instanceof kind)) return error;
  return new CannotAskError(errorMessage(error), { cause: error });
}
