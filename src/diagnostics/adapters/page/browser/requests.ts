import { useEffect, useRef, useState } from 'preact/hooks';

/** The latest response of the proxy to a request that the page repeats. */
export interface Polled<T> {
  /** Undefined before the first one. */
  readonly value?: T;
  /** The request that it answers. */
  readonly path?: string;
  /** When it arrived, in milliseconds since the epoch. */
  readonly time?: number;
  /** Why the last request failed. */
  readonly problem?: RequestError | undefined;
}

/** A request that failed. */
export class RequestError extends Error {
  constructor(
    message: string,
    /** Whether the proxy answered: it rejected the request, or has no such route (another version, or it is disabled). */
    readonly isAnswered = true,
  ) {
    super(message);
  }
}

const SECOND = 1_000;
/** A proxy that has not answered the smallest request by then does not respond. */
const HEARTBEAT_TIMEOUT = 1_500;
const TIMEOUT = 10_000;
/** Of requests that the user makes: reading the kernel's rules may take long. */
const LONG_TIMEOUT = 60_000;
/** Data on the page is requested again after this time, also if nothing has changed. */
const PERIOD = 5 * SECOND;
/** Data that is older is not called live. */
export const OLD = 10 * SECOND;
/** A proxy spends at most a tenth of its time on one open page, as long as the data does not get old. */
const TIMES_AS_LONG = 9;

/** Milliseconds to wait before the next request. @param took how long the last response took */
export function pauseAfter(took: number): number {
  return Math.min(PERIOD, Math.max(SECOND, TIMES_AS_LONG * took));
}

/** Whether the proxy responds. */
export interface Connection {
  readonly connected: boolean;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
  /** Different whenever the cluster, or its state in the kernel, has changed. */
  readonly changes: string;
}

let connection: Connection = { connected: true, since: Date.now(), changes: '' };
const followers = new Set<(state: Connection) => void>();

/** Whether the proxy responds, and whether something has changed. */
export function useConnection(): Connection {
  const [state, setState] = useState(connection);
  useEffect(() => {
    setState(connection);
    followers.add(setState);
    return () => void followers.delete(setState);
  }, []);
  return state;
}

function setConnection(connected: boolean, changes = connection.changes): void {
  if (connected === connection.connected && changes === connection.changes) return;
  const since = connected === connection.connected ? connection.since : Date.now();
  connection = { connected, since, changes };
  for (const follow of followers) follow(connection);
}

/** Queries the proxy once a second whether it responds and whether something has changed. */
export function useHeartbeat(): void {
  useWhileVisible('debug/sync', async (path, signal) => {
    const { value, problem } = await answerTo<Readonly<Record<string, unknown>>>(
      path,
      signal,
      HEARTBEAT_TIMEOUT,
    );
    if (signal.aborted) return;
    if (value) setConnection(true, `${value.appliedEvents} ${value.totalChanges} ${value.idle}`);
    else setConnection(problem!.isAnswered);
    await pause(SECOND);
  });
}

const shownTimes = new Map<object, number>();

/** When the oldest data on the page arrived, in milliseconds since the epoch; undefined if there is none. */
export function oldestTime(): number | undefined {
  return shownTimes.size === 0 ? undefined : Math.min(...shownTimes.values());
}

function useShownTime(time: number | undefined): void {
  const { current } = useRef({});
  useEffect(() => {
    if (time === undefined) return undefined;
    shownTimes.set(current, time);
    return () => void shownTimes.delete(current);
  }, [time]);
}

/** The last responses, so that a view that is opened again has its rows immediately. */
const known = new Map<string, Polled<unknown>>();
const MOST_KNOWN = 30;

/**
 * Repeats a request while the page is visible: after a change, and every few seconds.
 * @param path relative to the page
 * @param keepsFormer whether the response to the path before is returned until the first one to this path
 */
export function usePolled<T>(path: string, keepsFormer = false): Polled<T> {
  const [state, setState] = useState<Polled<T>>({});
  const latest = useRef(connection);
  latest.current = useConnection();
  useWhileVisible(path, async (requested, signal) => {
    const { since, changes } = latest.current;
    const start = performance.now();
    const result = await answerTo<T>(requested, signal);
    if (signal.aborted) return;
    setState((last) => ({ ...(last.path === requested && last), path: requested, ...result }));
    if (result.value !== undefined) {
      known.delete(requested);
      known.set(requested, { ...result, path: requested });
      if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
    }
    await pause(pauseAfter(performance.now() - start));
    const isDue = (): boolean =>
      latest.current.changes !== changes ||
      latest.current.since !== since ||
      performance.now() - start >= PERIOD;
    while (!signal.aborted && !isDue()) await pause(SECOND / 4);
  });
  const shown = state.path === path ? state : ((known.get(path) as Polled<T>) ?? (keepsFormer ? state : {}));
  useShownTime(shown.time);
  return shown;
}

/** Sends a request once. */
export function useAnswer<T>(path: string | undefined): Polled<T> {
  const [state, setState] = useState<Polled<T>>({});
  useEffect(() => {
    if (path === undefined) return undefined;
    const left = new AbortController();
    void answerTo<T>(path, left.signal, LONG_TIMEOUT).then((result) => {
      if (!left.signal.aborted) setState(result);
    });
    return () => left.abort();
  }, [path]);
  return state;
}

/** Follows a response without an end, a line of JSON from time to time. The last line counts. */
export function useLines<T>(path: string): Polled<T> {
  const [state, setState] = useState<Polled<T>>({});
  useWhileVisible(path, async (requested, signal) => {
    try {
      for await (const value of getLines<T>(requested, signal)) setState({ value, time: Date.now() });
    } catch (problem) {
      if (!signal.aborted) setState((last) => ({ ...last, problem: problem as RequestError }));
    }
    await pause(SECOND);
  });
  useShownTime(state.time);
  return state;
}

/** Repeats a step while the page is visible, until the view is left. */
function useWhileVisible(path: string, step: (path: string, signal: AbortSignal) => Promise<void>): void {
  useEffect(() => {
    let stop = new AbortController();
    const repeat = async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted && document.visibilityState === 'visible') await step(path, signal);
    };
    const follow = (): void => {
      stop.abort();
      stop = new AbortController();
      void repeat(stop.signal);
    };
    follow();
    document.addEventListener('visibilitychange', follow);
    return () => {
      document.removeEventListener('visibilitychange', follow);
      stop.abort();
    };
  }, [path]);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

async function answerTo<T>(path: string, signal: AbortSignal, timeout = TIMEOUT): Promise<Polled<T>> {
  try {
    const response = await request(path, AbortSignal.any([signal, AbortSignal.timeout(timeout)]));
    const value = (await response.json().catch(unreachable)) as T;
    return { value, time: Date.now(), problem: undefined };
  } catch (problem) {
    return { problem: problem as RequestError };
  }
}

/** A line is due every few seconds; without one, the connection is broken. */
async function* getLines<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  const response = await request(path, signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const silence = pause(TIMEOUT).then(unreachable);
    const { done, value = '' } = await Promise.race([reader.read().catch(unreachable), silence]);
    const lines = (rest + value).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line !== '') yield JSON.parse(line) as T;
    if (done) return;
  }
}

/** A 404 in JSON is a response: it explains why there is nothing. @throws RequestError */
async function request(path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(path, { signal, headers: { Accept: 'application/json' } }).catch(unreachable);
  const { ok, status } = response;
  const isJson = response.headers.get('content-type')?.includes('json');
  if (isJson && (ok || status === 404)) return response;
  if (status === 404) throw new RequestError(`this proxy does not answer ${path.split('?', 1)[0]!}`);
  const text = (await response.text().catch(unreachable)).trim();
  const message = isJson ? (JSON.parse(text) as { readonly error?: string }).error : text;
  throw new RequestError(message ?? `the proxy responded with ${status}`);
}

/** Also if the connection breaks before the response is complete. */
function unreachable(): never {
  throw new RequestError('the proxy does not respond', false);
}
