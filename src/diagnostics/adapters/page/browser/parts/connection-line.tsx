import type { JSX } from 'preact';
import { useConnection } from '../asking/use-connection.js';
import { clockTime } from './time.js';
import { Mark } from './mark.js';

/** Says whether what is shown is live, or since when it is not. */
export function ConnectionLine(): JSX.Element {
  const { connected, since } = useConnection();
  return (
    <p class={`connection ${connected ? '' : 'bad'}`} role="status">
      {connected ? (
        <>
          <Mark kind="good" /> live
        </>
      ) : (
        <>
          <Mark kind="bad" /> disconnected since{' '}
          <time dateTime={new Date(since).toISOString()}>{clockTime(since)}</time>, trying again
        </>
      )}
    </p>
  );
}
