import type { JSX } from 'preact';
import { useConnection } from '../asking/use-connection.js';
import { clockTime } from './time.js';

/** Says of what time something is, once nothing newer can be had; nothing while the page is connected. */
export function Age({ at }: { readonly at: number | undefined }): JSX.Element | null {
  const { connected } = useConnection();
  if (connected || at === undefined) return null;
  return (
    <span class="age">
      old: as of <time dateTime={new Date(at).toISOString()}>{clockTime(at)}</time>
    </span>
  );
}
