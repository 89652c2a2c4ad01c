import type { JSX } from 'preact';
import { NoAnswer, NoSuchRoute } from '../asking/ask.js';
import { Mark } from './mark.js';

/** Why a part of the page shows nothing, or nothing new. A lost connection is said once, in the head of the page. */
export function Trouble({
  problem,
  what,
}: {
  readonly problem?: Error | undefined;
  readonly what: string;
}): JSX.Element | null {
  if (!problem || problem instanceof NoAnswer) return null;
  if (problem instanceof NoSuchRoute)
    return (
      <p class="absent">
        <Mark kind="off" /> No {what}: {problem.message}.
      </p>
    );
  return (
    <p class="absent bad" role="alert">
      <Mark kind="bad" /> No {what}: {problem.message}
    </p>
  );
}
