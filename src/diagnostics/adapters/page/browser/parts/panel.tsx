import type { ComponentChildren, JSX } from 'preact';
import { Age } from './age.js';

interface PanelProps {
  readonly title: string;
  readonly id?: string;
  /** Of when its contents are, in milliseconds since the epoch: said of them once they are old. */
  readonly at?: number | undefined;
  readonly children: ComponentChildren;
}

/** A part of a view, under its title. */
export function Panel({ title, id, at, children }: PanelProps): JSX.Element {
  return (
    <section class="panel" id={id} aria-label={title}>
      <h2>
        {title} <Age at={at} />
      </h2>
      {children}
    </section>
  );
}
