import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, NoAnswer } from './ask.js';
import { restAfter } from './rest.js';
import { pause, visible } from './waiting.js';

/** What the proxy answers now, as far as the page knows. */
export interface Followed<T> {
  /** The last answer; undefined before the first. */
  readonly value?: T;
  /** When it came, in milliseconds since the epoch. */
  readonly at?: number;
  /** Why the last request got none. */
  readonly problem?: Error | undefined;
}

export interface Pace {
  /** Milliseconds after which to ask again. */
  readonly period?: number;
  /** Ask as soon as this differs, however long the period; null: not yet. */
  readonly when?: string | null;
}

const SECOND = 1_000;

/** Asks the proxy again and again while the page is visible. @param wish the path; undefined: nothing to ask */
export function useFollowed<T>(wish: string | undefined, { period = SECOND, when }: Pace = {}): Followed<T> {
  const path = when === null ? undefined : wish;
  const [state, setState] = useState<Followed<T> & { readonly path?: string }>({});
  const wanted = useRef(when);
  wanted.current = when;

  useEffect(() => {
    if (path === undefined) return undefined;
    const ended = new AbortController();
    const follow = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await visible();
        const askedFor = wanted.current;
        const askedAt = performance.now();
        const answer = await attempt<T>(path, ended.signal);
        if (ended.signal.aborted) return;
        const took = performance.now() - askedAt;
        setState((last) => ({ ...(last.path === path && last), path, problem: undefined, ...answer }));
        await pause(restAfter(answer.problem ? undefined : took));
        if (answer.problem instanceof NoAnswer) continue;
        const isDue = (): boolean => wanted.current !== askedFor || performance.now() - askedAt >= period;
        while (!ended.signal.aborted && !isDue()) await pause(SECOND);
      }
    };
    void follow();
    return () => ended.abort();
  }, [path, period]);

  return state.path === path ? state : {};
}

async function attempt<T>(path: string, signal: AbortSignal): Promise<Followed<T>> {
  try {
    return { value: await ask<T>(path, signal), at: Date.now() };
  } catch (error) {
    return { problem: error as Error };
  }
}
