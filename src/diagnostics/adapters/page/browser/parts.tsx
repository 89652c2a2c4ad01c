import type { ComponentChildren, JSX } from 'preact';
import type { Verdict, VerdictState } from '../../../../domain/verdict/verdict.js';
import { isServiceKey, parseDisplayName } from '../../../../domain/model/service-port-name.js';
import { OLD, useConnection, type Polled } from './requests.js';
import { hrefOf, replaceRoute, type HistoryRoute, type Route, type ServicesRoute } from './routing.js';
import { clockTime, counted } from './text.js';

/** A state of a node or a Service; `off`: not in use. */
export type MarkKind = VerdictState | 'off';

/** A state: its word, with a shape besides the color. */
export function State(props: { readonly kind: MarkKind; readonly children: ComponentChildren }): JSX.Element {
  return <span class={`state ${props.kind}`}>{props.children}</span>;
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
function Age({ time }: { readonly time: number | undefined }): JSX.Element | null {
  const { connected } = useConnection();
  if (time === undefined || (connected && Date.now() - time < OLD)) return null;
  return (
    <span class="age">
      old: as of <time dateTime={new Date(time).toISOString()}>{clockTime(time)}</time>
    </span>
  );
}

/** The head of a list: its title, its filters, and a count. */
export function ListHead(props: {
  readonly title: string;
  readonly route: ServicesRoute | HistoryRoute;
  readonly time: number | undefined;
  readonly count: string | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const { title, route, time, count, children } = props;
  return (
    <div class="bar">
      <h1>{title}</h1>
      {children}
      <label>
        <input
          type="checkbox"
          checked={route.problems ?? false}
          onChange={({ currentTarget }) => replaceRoute({ ...route, problems: currentTarget.checked })}
        />
        Problems only
      </label>
      <output class="count">
        <Age time={time} /> {count}
      </output>
    </div>
  );
}

type FieldProps = JSX.IntrinsicElements['input'] & {
  readonly label: ComponentChildren;
  readonly onText?: (text: string) => void;
};

/** A line of text with its label. */
export function Field({ label, onText, ...input }: FieldProps): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        {...input}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onText?.(currentTarget.value)}
      />
    </label>
  );
}

/** Why a part of the page shows nothing yet, or nothing new. A lost connection is in the head of the page only. */
export function Problem(props: {
  readonly polled: Polled<unknown>;
  readonly what: string;
}): JSX.Element | null {
  const { value, problem } = props.polled;
  const { connected } = useConnection();
  if (problem && (problem.isAnswered || connected))
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
  /** Has the rows to show, if they are more than at first; missing: there are no more. */
  readonly route?: Exclude<Route, { readonly view: 'overview' }>;
}): JSX.Element {
  const { label, columns, rows, keyOf, total = rows.length, route } = props;
  const most = Math.max(ROWS, route?.rows ?? 0);
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
      {route && left > 0 && (
        <button type="button" onClick={() => replaceRoute({ ...route, rows: most + ROWS })}>
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

/** Lines of text, the first of them; numbered if they are steps. */
export function Lines(props: {
  readonly lines: readonly ComponentChildren[];
  readonly steps?: boolean;
}): JSX.Element | null {
  const { lines, steps = false } = props;
  if (lines.length === 0) return null;
  const List = steps ? 'ol' : 'ul';
  return (
    <List class={steps ? 'steps' : 'lines'}>
      {lines.slice(0, ROWS).map((line, index) => (
        <li key={index}>{line}</li>
      ))}
      {lines.length > ROWS && <li>and {counted(lines.length - ROWS, steps ? 'more step' : 'more line')}</li>}
    </List>
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
