import { useEffect, useRef, useState } from 'preact/hooks';

/** The latest response of the proxy to a request that the page repeats. */
export interface Polled<T> {
  /** Undefined before the first one. */
  readonly value?: T;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at?: number;
  /** Why the last request failed. */
  readonly problem?: RequestError | undefined;
}

/**
 * A request that failed: the proxy is not reachable, or has no such route (it has another version, or the route is disabled), or
 * rejected the request.
 */
export class RequestError extends Error {
  constructor(
    readonly reason: 'unreachable' | 'unknown-route' | 'rejected',
    message: string,
  ) {
    super(message);
  }
}

interface PollOptions {
  /** Milliseconds after which to send the request again. */
  readonly period?: number;
  /** Send it as soon as this changes, whatever the period; null: do not send it yet. */
  readonly when?: string | null;
}

const SECOND = 1_000;
const TIMEOUT = 10_000;
/** A proxy spends at most a tenth of its time on one open page. */
const TIMES_AS_LONG = 9;

/** Repeats a request while the page is visible. @param path relative to the page; undefined: nothing to request */
export function usePolled<T>(
  path: string | undefined,
  { period = SECOND, when }: PollOptions = {},
): Polled<T> {
  const current = when === null ? undefined : path;
  const [state, setState] = useState<Polled<T> & { readonly path?: string }>({});
  const latestWhen = useRef(when);
  latestWhen.current = when;
  useWhileVisible(current, period, async (requested, signal) => {
    const requestedFor = latestWhen.current;
    const start = performance.now();
    const result = await getJson<T>(requested, signal).then(
      (value): Polled<T> => ({ value, at: Date.now(), problem: undefined }),
      (problem: RequestError): Polled<T> => ({ problem }),
    );
    if (signal.aborted) return;
    setState((last) => ({ ...(last.path === requested && last), path: requested, ...result }));
    await pause(pauseAfter(result.problem ? 0 : performance.now() - start));
    const isDue = (): boolean =>
      result.problem?.reason === 'unreachable' ||
      latestWhen.current !== requestedFor ||
      performance.now() - start >= period;
    while (!signal.aborted && !isDue()) await pause(SECOND);
  });
  return state.path === current ? state : {};
}

/** Follows a response without an end, a line of JSON from time to time. The last line counts. */
export function useLines<T>(path: string): Polled<T> {
  const [state, setState] = useState<Polled<T>>({});
  useWhileVisible(path, 0, async (requested, signal) => {
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const stopIfHidden = (): void => {
      if (document.visibilityState === 'hidden') stop.abort();
    };
    document.addEventListener('visibilitychange', stopIfHidden, { signal: either });
    try {
      for await (const value of getLines<T>(requested, either)) setState({ value, at: Date.now() });
    } catch (problem) {
      if (!either.aborted) setState((last) => ({ ...last, problem: problem as RequestError }));
    } finally {
      stop.abort();
    }
    await pause(SECOND);
  });
  return state;
}

/** A text that changes whenever the cluster or its state in the kernel has changed; null while unknown. */
export function useChanges(): string | null {
  const { value } = usePolled<{ readonly idle: boolean; readonly appliedEvents: number }>('debug/sync');
  return value ? `${value.appliedEvents} ${value.idle}` : null;
}

/** Whether the proxy responds. */
interface ConnectionState {
  readonly connected: boolean;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
}

let connection: ConnectionState = { connected: true, since: Date.now() };
const followers = new Set<(state: ConnectionState) => void>();

/** Whether the last request of any view got a response. */
export function useConnection(): ConnectionState {
  const [state, setState] = useState(connection);
  useEffect(() => {
    followers.add(setState);
    return () => followers.delete(setState);
  }, []);
  return state;
}

function setConnected(connected: boolean): void {
  if (connected === connection.connected) return;
  connection = { connected, since: Date.now() };
  for (const follow of followers) follow(connection);
}

/** Milliseconds to wait before the next request. @param took how long the last response took */
export function pauseAfter(took: number): number {
  return Math.max(SECOND, TIMES_AS_LONG * took);
}

/** Repeats a step while the page is visible, until the view is left. */
function useWhileVisible(
  path: string | undefined,
  period: number,
  step: (path: string, signal: AbortSignal) => Promise<void>,
): void {
  useEffect(() => {
    if (path === undefined) return undefined;
    const ended = new AbortController();
    const run = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await visible();
        await step(path, ended.signal);
      }
    };
    void run();
    return () => ended.abort();
  }, [path, period]);
}

async function visible(): Promise<void> {
  while (document.visibilityState !== 'visible')
    await new Promise((seen) => document.addEventListener('visibilitychange', seen, { once: true }));
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

async function getJson<T>(path: string, signal: AbortSignal): Promise<T> {
  const response = await request(path, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]));
  return response.json().catch(unreachable) as Promise<T>;
}

async function* getLines<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  const response = await request(path, signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value = '' } = await reader.read().catch(unreachable);
    const lines = (rest + value).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
    if (done) return;
  }
}

/** A 404 in JSON is a response: it explains why there is nothing. @throws RequestError */
async function request(path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(path, { signal, headers: { Accept: 'application/json' } }).catch(
    (error: Error) => {
      if (error.name !== 'AbortError') setConnected(false);
      return unreachable();
    },
  );
  setConnected(true);
  const { ok, status } = response;
  const isJson = response.headers.get('content-type')?.includes('json');
  if (isJson && (ok || status === 404)) return response;
  if (status === 404)
    throw new RequestError('unknown-route', `this proxy does not answer ${path.split('?', 1)[0]!}`);
  const text = (await response.text().catch(unreachable)).trim();
  const message = isJson ? (JSON.parse(text) as { readonly error?: string }).error : text;
  throw new RequestError('rejected', message ?? `the proxy responded with ${status}`);
}

/** Also if the connection breaks before the response is complete. */
function unreachable(): never {
  throw new RequestError('unreachable', 'the proxy is not reachable');
}
