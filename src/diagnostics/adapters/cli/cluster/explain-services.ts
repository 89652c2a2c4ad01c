import type { ServiceList } from '../../../application/status/service-row.js';
import type { ClusterQuestion } from '../arguments/question.js';
import { nameText, type ServiceName } from '../command-line/service-names.js';
import { complainOf } from '../asking/unknown-service.js';
import { exitCode, type AskNodes, type Told } from './told.js';
import { questions } from './questions.js';

/**
 * Asks all nodes about one Service after the other, since each is compared by itself; at first, if a name has no namespace, which
 * Services have it. Says which names no node knows.
 * @returns what is known of each, and the exit code of all
 */
export async function explainServices(
  question: ClusterQuestion,
  ask: AskNodes,
): Promise<{ readonly all: readonly Told[]; readonly exitCode: number }> {
  const { found, code } = await inNamespaces(question, ask);
  const all: Told[] = [];
  for (const service of found) {
    const put = await questions.explain({ ...question, services: [service] });
    all.push(await ask(put, ['explain', nameText(service), '-o', 'json']));
  }
  return { all, exitCode: Math.max(code, ...all.map(exitCode)) };
}

/** The names, each in the namespaces in which a node knows such a Service. */
async function inNamespaces(
  question: ClusterQuestion,
  ask: AskNodes,
): Promise<{ readonly found: readonly ServiceName[]; readonly code: number }> {
  const { services } = question;
  const loose = services.flatMap(({ service }) => (service.includes('/') ? [] : service));
  if (loose.length === 0) return { found: services, code: 0 };
  // Where no node answers, each question says so.
  const told = await ask(await questions.services(question), ['services', ...loose, '-o', 'json']);
  if (told.answered === 0) return { found: services, code: 0 };
  const { services: rows, unknown } = told.result as Told['result'] & ServiceList;
  const found = services.flatMap((one) =>
    one.service.includes('/')
      ? one
      : rows
          .filter(({ name }) => name === one.service)
          .map(({ namespace, name }) => ({ ...one, service: `${namespace}/${name}` })),
  );
  return { found, code: complainOf(unknown) ? 1 : 0 };
}
