import type { JSX } from 'preact';

/** More of anything would make the page slow, and nobody reads it. */
export const MOST = 100;

/** Lines of text, the first hundred of them. */
export function Lines({ lines }: { readonly lines: readonly string[] }): JSX.Element | null {
  if (lines.length === 0) return null;
  return (
    <ul class="lines">
      {lines.slice(0, MOST).map((line, place) => (
        <li key={place}>{line}</li>
      ))}
      {lines.length > MOST && <li class="quiet">{moreThanShown(lines.length)}</li>}
    </ul>
  );
}

/** Says how many are left out; empty if none. */
export function moreThanShown(count: number): string {
  return count > MOST ? `and ${(count - MOST).toLocaleString('en')} more` : '';
}
