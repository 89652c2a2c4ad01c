import type { ComponentChildren, JSX } from 'preact';
import type { Verdict, VerdictState } from '../../../../domain/verdict/verdict.js';
import { isServiceKey, parseDisplayName } from '../../../../domain/model/service-port-name.js';
import { OLD, useConnection, type Polled } from './requests.js';
import { hrefOf } from './routing.js';
import { clockTime, counted } from './text.js';

/** A state of a node or a Service; `off`: not in use. */
export type MarkKind = VerdictState | 'off';

const SHAPES: Readonly<Record<MarkKind, JSX.Element>> = {
  ok: <circle cx="6" cy="6" r="4" />,
  warning: (
    <>
      <circle cx="6" cy="6" r="4" class="hollow" />
      <path d="M6 2a4 4 0 0 1 0 8z" />
    </>
  ),
  error: <path d="M6 .8 11.6 11H.4z" />,
  off: <circle cx="6" cy="6" r="3.5" class="hollow" />,
};

/** A state as a shape, not only as a color, and the word for it. */
export function State(props: { readonly kind: MarkKind; readonly children: ComponentChildren }): JSX.Element {
  const { kind, children } = props;
  return (
    <span class={`state ${kind}`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {SHAPES[kind]}
      </svg>{' '}
      {children}
    </span>
  );
}

/** A verdict as the commands print it: the state, the reason, and the next step with its command. */
export function VerdictText({ verdict }: { readonly verdict: Verdict }): JSX.Element {
  const { state, reason, nextStep } = verdict;
  const [, step = nextStep, command] = /^(.*?: )(kube\w+ .*)$/.exec(nextStep ?? '') ?? [];
  return (
    <>
      <State kind={state}>{state}</State>: {reason}
      {step !== undefined && (
        <p class="step">
          Next step: {step}
          {command !== undefined && <code>{command}</code>}
        </p>
      )}
    </>
  );
}

/** A part of a view, with its title. */
export function Panel(props: {
  readonly title: string;
  readonly id?: string;
  /** When its contents arrived, in milliseconds since the epoch: shown once they are old. */
  readonly time?: number | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { title, id, time, children } = props;
  return (
    <section class="panel" id={id} aria-label={title}>
      <h2>
        {title} <Age time={time} />
      </h2>
      {children}
    </section>
  );
}

/** The time of old data; nothing while the data is current. */
export function Age({ time }: { readonly time: number | undefined }): JSX.Element | null {
  const { connected } = useConnection();
  if (time === undefined || (connected && Date.now() - time < OLD)) return null;
  return (
    <span class="age">
      old: as of <time dateTime={new Date(time).toISOString()}>{clockTime(time)}</time>
    </span>
  );
}

/** Why a part of the page shows nothing yet, or nothing new. A lost connection is in the head of the page only. */
export function Problem(props: {
  readonly polled: Polled<unknown>;
  readonly what: string;
}): JSX.Element | null {
  const { value, problem } = props.polled;
  const { connected } = useConnection();
  if (problem && (problem.reason !== 'unreachable' || connected))
    return (
      <p class="error" role="alert">
        No {props.what}: {problem.message}
      </p>
    );
  return value === undefined ? <p class="quiet">Loading…</p> : null;
}

/** A column of a table; its name is its class in page.css. */
export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
}

/** Rows at first, and those that are added at a time. */
export const ROWS = 200;

/** A table of the first rows; a button adds more. On a phone, each row is a block. The arrow keys move between the links of the rows. */
export function Table<Row>(props: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** The focus stays with its row when others come or go. */
  readonly keyOf: (row: Row) => string;
  /** All rows, if not all have been sent. */
  readonly total?: number;
  /** The rows to show; missing: the first ones. */
  readonly shown?: number | undefined;
  /** Called with the rows to show; missing: there are no more. */
  readonly onMore?: (rows: number) => void;
}): JSX.Element {
  const { label, columns, rows, keyOf, total = rows.length, shown = 0, onMore } = props;
  const most = Math.max(ROWS, shown);
  const left = total - Math.min(most, rows.length);
  return (
    <>
      <table aria-label={label} onKeyDown={moveFocus}>
        <thead>
          <tr>
            {columns.map(({ name, title }) => (
              <th key={title} scope="col" class={name}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, title, cell }) => (
                <td key={title} class={name} data-title={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {onMore && left > 0 && (
        <button type="button" onClick={() => onMore(most + ROWS)}>
          Show {Math.min(ROWS, left)} more of {left.toLocaleString('en')}
        </button>
      )}
    </>
  );
}

function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('td.name a')];
  const next = links[links.indexOf(document.activeElement as HTMLElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Lines of text, the first of them. */
export function Lines({ lines }: { readonly lines: readonly ComponentChildren[] }): JSX.Element | null {
  if (lines.length === 0) return null;
  return (
    <ul class="lines">
      {lines.slice(0, ROWS).map((line, index) => (
        <li key={index}>{line}</li>
      ))}
      {lines.length > ROWS && <li class="quiet">and {counted(lines.length - ROWS, 'more line')}</li>}
    </ul>
  );
}

/** A Service by its key, with a link to it. */
export function ServiceLink({ service }: { readonly service: string }): JSX.Element {
  const [namespace = '', name = ''] = service.split('/');
  return <a href={hrefOf({ view: 'service', namespace, name })}>{service}</a>;
}

/** A service port by its name, `namespace/name:port`, with a link to its Service. */
export function PortLink({ port: text }: { readonly port: string }): JSX.Element {
  const { service, port } = parseDisplayName(text);
  if (!isServiceKey(service)) return <>{text}</>;
  return (
    <>
      <ServiceLink service={service} />
      {port && ` ${port}`}
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
          <code>kubectl expose deployment web --port 80</code>.
        </li>
        <li>
          From manifests: put Services and their EndpointSlices into the folder of <code>--manifests</code>;{' '}
          <code>kubeproxy validate</code> lists the problems of files that are ignored.
        </li>
      </ul>
    </div>
  );
}
