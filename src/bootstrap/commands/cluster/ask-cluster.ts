import { ApiConnectionError, ApiError } from '../../../adapters/kubernetes/client/api-error.js';
import { KubeconfigError } from '../../../adapters/kubernetes/connection/connection.js';
import { answersOf, askNodes } from '../../../application/cluster/ask-nodes.js';
import type { FoundProxies } from '../../../application/ports/node-proxies.js';
import type { Asked } from '../../configuration/command-line.js';
import { CANNOT_ASK, CannotAskError } from '../asking/cannot-ask-error.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { explainQuestion, statusQuestion, topQuestion, type NodesQuestion } from './nodes-question.js';
import { openProxyPods } from './open-proxy-pods.js';

/** How long one proxy may take to answer. Milliseconds. */
const TIMEOUT = 10_000;

/**
 * Asks the proxies of all nodes and prints what they say. The exit code is the question's, or 3 when no node answers.
 * @throws CannotAskError when no proxy can be found
 */
export async function askCluster(asked: Asked<'cluster'>, timeout = TIMEOUT): Promise<number> {
  const { question, access, output } = asked.request;
  const { proxies, unknown } = await find(asked, timeout);
  for (const problem of unknown) process.stderr.write(`not known: ${problem}\n`);
  const ask = async <Answer, Result>(put: NodesQuestion<Answer, Result>): Promise<number> => {
    const replies = await askNodes<Answer>(proxies, put.words, access.parallel);
    const result = put.result(replies);
    await print(formatted(output, result, (value, isWide) => put.text(value, isWide)));
    return answersOf(replies).length > 0 ? put.exitCode(result) : CANNOT_ASK;
  };
  switch (question.kind) {
    case 'status':
      return ask(statusQuestion);
    case 'explain':
      return ask(explainQuestion(question.service));
    case 'top':
      return ask(topQuestion);
  }
}

async function find(asked: Asked<'cluster'>, timeout: number): Promise<FoundProxies> {
  const { namespace, selector } = asked.request.access;
  try {
    const found = await (await openProxyPods(asked, timeout)).list();
    if (found.proxies.length > 0) return found;
  } catch (error) {
    if (error instanceof ApiError || error instanceof ApiConnectionError || error instanceof KubeconfigError)
      throw new CannotAskError(error.message, { cause: error });
    throw error;
  }
  throw new CannotAskError(
    `no pod in the namespace ${namespace} has the labels ${selector}; choose others with -n and -l`,
  );
}
