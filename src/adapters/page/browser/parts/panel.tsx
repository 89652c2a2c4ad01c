import type { ComponentChildren, JSX } from 'preact';

interface PanelProps {
  readonly title: string;
  readonly id?: string;
  readonly children: ComponentChildren;
}

/** A part of a view, under its title. */
export function Panel({ title, id, children }: PanelProps): JSX.Element {
  return (
    <section class="panel" id={id} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
