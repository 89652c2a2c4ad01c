import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { portWords } from '../../../application/words.js';
import { useConnection, type RequestError } from './requests.js';
import { hrefOf } from './routing.js';
import { clockTime, parseServicePort } from './text.js';

/** As it should be, pending or with a limitation, not as it should be, not in use. */
export type MarkKind = 'good' | 'waiting' | 'bad' | 'off';

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

/** A state as a shape, not only as a color; the word is beside it. */
export function Mark({ kind }: { readonly kind: MarkKind }): JSX.Element {
  return (
    <svg class={`mark ${kind}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      {SHAPES[kind]}
    </svg>
  );
}

const MARKS: Readonly<Record<string, MarkKind>> = {
  ok: 'good',
  warning: 'waiting',
  programmed: 'good',
  'everything-programmed': 'good',
  pending: 'waiting',
  repaired: 'waiting',
  removed: 'off',
};

/** For the state of a Service or a service port, or the result of a change. */
export function markOf(state: string): MarkKind {
  return MARKS[state] ?? 'bad';
}

/** A part of a view, with its title. */
export function Panel(props: {
  readonly title: string;
  readonly id?: string;
  /** When its contents arrived, in milliseconds since the epoch: shown once they are old. */
  readonly at?: number | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { title, id, at, children } = props;
  return (
    <section class="panel" id={id} aria-label={title}>
      <h2>
        {title} <Age at={at} />
      </h2>
      {children}
    </section>
  );
}

/** The time of a response that cannot be renewed; nothing while the page is connected. */
export function Age({ at }: { readonly at: number | undefined }): JSX.Element | null {
  const { connected } = useConnection();
  if (connected || at === undefined) return null;
  return (
    <span class="age">
      old: as of <time dateTime={new Date(at).toISOString()}>{clockTime(at)}</time>
    </span>
  );
}

/** Why a part of the page shows nothing, or nothing new. A lost connection is in the head of the page only. */
export function Problem(props: {
  readonly problem: RequestError | undefined;
  readonly what: string;
}): JSX.Element | null {
  const { problem, what } = props;
  if (!problem || problem.reason === 'unreachable') return null;
  const isBad = problem.reason === 'rejected';
  return (
    <p class={`absent ${isBad ? 'bad' : ''}`} {...(isBad && { role: 'alert' })}>
      <Mark kind={isBad ? 'bad' : 'off'} /> No {what}: {problem.message}
    </p>
  );
}

/** A longer list is slow, and nobody reads it. */
export const MOST = 100;

/** Lines of text, the first hundred of them. */
export function Lines({ lines }: { readonly lines: readonly string[] }): JSX.Element | null {
  if (lines.length === 0) return null;
  return (
    <ul class="lines">
      {lines.slice(0, MOST).map((line, index) => (
        <li key={index}>{line}</li>
      ))}
      {lines.length > MOST && <li class="quiet">{moreThanShown(lines.length)}</li>}
    </ul>
  );
}

export function moreThanShown(count: number): string {
  return `and ${(count - MOST).toLocaleString('en')} more`;
}

/** A service port, by its key, with a link to its Service. */
export function PortLink(props: { readonly port: string; readonly tabIndex?: 0 | -1 }): JSX.Element {
  const port = parseServicePort(props.port);
  if (!port) return <>{props.port}</>;
  const { namespace, name } = port;
  return (
    <>
      <a href={hrefOf({ view: 'service', namespace, name })} tabIndex={props.tabIndex ?? 0}>
        {`${namespace}/${name}`}
      </a>{' '}
      {portWords(port)}
    </>
  );
}

/** What to do if the proxy has no Services. */
export function EmptyCluster(): JSX.Element {
  return (
    <div class="panel empty">
      <h2>No Service yet</h2>
      <p>This proxy has no Services: the cluster has none, or the proxy does not see them.</p>
      <ul>
        <li>
          From an API server: create one, for example with{' '}
          <code>kubectl expose deployment web --port 80</code>. If there are Services, see the watches in the
          overview.
        </li>
        <li>
          From manifests: put Services and their EndpointSlices into the folder of <code>--manifests</code>;{' '}
          <code>kubeproxy validate</code> lists the problems of files that are ignored.
        </li>
      </ul>
    </div>
  );
}

/** Calls back with the element once it is in the document, and whenever its size changes. */
export function useSize(
  box: { readonly current: HTMLElement | null },
  onSize: (element: HTMLElement) => void,
): void {
  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => onSize(element));
    observer.observe(element);
    onSize(element);
    return () => observer.disconnect();
  }, []);
}
