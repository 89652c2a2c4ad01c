import { connection } from './connection.js';

/** The proxy answered, but has no such route: it is of another version, or that part of it is switched off. */
export class NoSuchRoute extends Error {
  constructor(readonly path: string) {
    super(`this proxy does not answer ${path}`);
    this.name = 'NoSuchRoute';
  }
}

/** The proxy answered that it will not or cannot. The message is its own. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** Nothing answered. */
export class NoAnswer extends Error {
  constructor(path: string, cause: unknown) {
    super(`no answer to ${path}`, { cause });
    this.name = 'NoAnswer';
  }
}

const LONGEST_WAIT = 10_000;

/**
 * Asks the proxy that served this page. A 404 in JSON is an answer: it says why there is nothing.
 * @param path relative to the page, so that it works behind the API server's proxy, too
 * @throws NoSuchRoute, Refused, NoAnswer
 */
export async function ask<T>(path: string, signal: AbortSignal): Promise<T> {
  const response = await request(path, AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT)]));
  if (isJson(response) && (response.ok || response.status === 404)) return body<T>(path, response);
  return refuse(path, response);
}

/**
 * Asks for an answer of many lines of JSON, and gives each as it arrives, until the proxy ends it.
 * @throws as `ask`
 */
export async function* openLines<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  const response = await request(path, signal);
  if (!response.ok || !response.body) return refuse(path, response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value = '' } = await reader.read().catch((cause: unknown) => {
      throw new NoAnswer(path, cause);
    });
    const lines = (rest + value).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
    if (done) return;
  }
}

function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/json') === true;
}

async function refuse(path: string, response: Response): Promise<never> {
  if (response.status === 404) throw new NoSuchRoute(path.split('?', 1)[0]!);
  if (!isJson(response)) throw new Refused((await response.text()).trim());
  const { error } = await body<{ readonly error?: string }>(path, response);
  throw new Refused(error ?? `the proxy answered with ${response.status}`);
}

/** The connection may break before the answer is complete. */
async function body<T>(path: string, response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch (cause) {
    throw new NoAnswer(path, cause);
  }
}

async function request(path: string, signal: AbortSignal): Promise<Response> {
  try {
    const response = await fetch(path, { signal, headers: { Accept: 'application/json' } });
    connection.heard(true);
    return response;
  } catch (cause) {
    if (!(cause instanceof DOMException && cause.name === 'AbortError')) connection.heard(false);
    throw new NoAnswer(path, cause);
  }
}
