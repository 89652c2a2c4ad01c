import type { ComponentChildren, JSX } from 'preact';

interface TableProps {
  /** Those of columns of numbers are marked. */
  readonly titles: readonly (string | { readonly number: string })[];
  readonly children: ComponentChildren;
}

/** A table, which scrolls where it is too wide. */
export function Table({ titles, children }: TableProps): JSX.Element {
  return (
    <div class="wide">
      <table class="stacked">
        <thead>
          <tr>
            {titles.map((title) => {
              const [text, type] = typeof title === 'string' ? [title] : [title.number, 'number'];
              return (
                <th key={text} scope="col" class={type}>
                  {text}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
