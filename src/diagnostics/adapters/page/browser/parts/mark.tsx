import type { JSX } from 'preact';
import type { MarkKind } from './mark-kind.js';

const SHAPES: Readonly<Record<MarkKind, JSX.Element>> = {
  good: <circle cx="6" cy="6" r="4" />,
  waiting: (
    <>
      <circle cx="6" cy="6" r="4" class="hollow" />
      <path d="M6 2a4 4 0 0 1 0 8z" />
    </>
  ),
  bad: <path d="M6 .8 11.6 11H.4z" />,
  off: <circle cx="6" cy="6" r="3.5" class="hollow" />,
};

/** A state by its shape, not only by its color; the word stands beside it. */
export function Mark({ kind }: { readonly kind: MarkKind }): JSX.Element {
  return (
    <svg class={`mark ${kind}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      {SHAPES[kind]}
    </svg>
  );
}
