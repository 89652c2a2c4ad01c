import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface SearchFieldProps {
  readonly text: string;
  /** What can be searched for. */
  readonly placeholder: string;
  /** The name of the grid that it searches. */
  readonly grid: string;
  readonly onText: (text: string) => void;
}

/** Where to type what a grid is searched for. `/` leads there from everywhere; the down arrow and Enter lead to the rows. */
export function SearchField({ text, placeholder, grid, onText }: SearchFieldProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'Enter') return;
    event.preventDefault();
    document.getElementById(grid)?.focus();
  };
  return (
    <label class="search">
      <span>
        Search <kbd>/</kbd>
      </span>
      <input
        type="search"
        ref={field}
        value={text}
        placeholder={placeholder}
        data-searches={grid}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </label>
  );
}
