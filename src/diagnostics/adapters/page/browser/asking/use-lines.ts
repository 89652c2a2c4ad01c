import { useEffect, useState } from 'preact/hooks';
import { openLines } from './ask.js';
import type { Followed } from './use-followed.js';
import { pause, visible } from './waiting.js';

const SECOND = 1_000;

/**
 * Follows an answer that does not end: a line of JSON every now and then, of which the last one counts. It is read while the page
 * is visible, and asked for again when it breaks.
 */
export function useLines<T>(path: string): Followed<T> {
  const [state, setState] = useState<Followed<T>>({});
  useEffect(() => {
    const ended = new AbortController();
    const follow = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await visible();
        const hidden = new AbortController();
        const onHidden = (): void => {
          if (document.visibilityState === 'hidden') hidden.abort();
        };
        document.addEventListener('visibilitychange', onHidden);
        try {
          const lines = openLines<T>(path, AbortSignal.any([ended.signal, hidden.signal]));
          for await (const value of lines) setState({ value, at: Date.now() });
        } catch (error) {
          if (ended.signal.aborted) return;
          if (!hidden.signal.aborted) setState((last) => ({ ...last, problem: error as Error }));
        } finally {
          document.removeEventListener('visibilitychange', onHidden);
        }
        await pause(SECOND);
      }
    };
    void follow();
    return () => ended.abort();
  }, [path]);
  return state;
}
