import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { hostPort } from '../../../../../domain/net/ip-family.js';
import type { TraceAnswer } from '../../../../application/trace/answer.js';
import { SOURCE_WORDS } from '../../../../application/words.js';
import {
  foldSteps,
  type FoldedStep,
  type Step,
  type TracedEndpoint,
} from '../../../../domain/trace/trace.js';
import { Lines, Panel, PortLink, Problem, ROWS, State, Table, type Column, type MarkKind } from '../parts.js';
import { useAnswer } from '../requests.js';
import { navigate, queryOf, type TraceRoute } from '../routing.js';
import { addressRank, clockTime, counted, sortedBy } from '../text.js';

/** Where a packet would go, and why. */
export function TraceView({ route }: { readonly route: TraceRoute }): JSX.Element {
  const { from = '', to = '', kernel = false } = route;
  const hasQuery = from !== '' && to !== '';
  const [submits, setSubmits] = useState(0);
  const query = queryOf({ from, to, kernel });
  const polled = useAnswer<TraceAnswer>(hasQuery ? `debug/trace${query}` : undefined, submits);
  const { value, time } = polled;
  return (
    <>
      <h1>Trace</h1>
      <TraceForm key={query} {...{ from, to, kernel }} onSubmit={() => setSubmits(submits + 1)} />
      {hasQuery && <Problem polled={polled} what="trace" />}
      {hasQuery && value && time !== undefined && <Result answer={value} time={time} from={from} to={to} />}
      {!hasQuery && (
        <p class="quiet">
          Follows the first packet of a connection through this node’s rules, rule by rule, to its endpoints.
        </p>
      )}
    </>
  );
}

type Query = Required<Omit<TraceRoute, 'view'>>;

function TraceForm(props: Query & { readonly onSubmit: () => void }): JSX.Element {
  const [query, setQuery] = useState<Query>({ from: props.from, to: props.to, kernel: props.kernel });
  const submit = (event: Event): void => {
    event.preventDefault();
    navigate({ view: 'trace', ...query, from: query.from.trim(), to: query.to.trim() });
    props.onSubmit();
  };
  const field = (name: 'from' | 'to', placeholder: string, list?: string): JSX.Element => (
    <input
      name={name}
      required
      list={list}
      value={query[name]}
      placeholder={placeholder}
      autocomplete="off"
      spellcheck={false}
      onInput={({ currentTarget }) => setQuery({ ...query, [name]: currentTarget.value })}
    />
  );
  return (
    <form class="query" onSubmit={submit}>
      <label>
        <span>From</span>
        {field('from', 'pod/web-1, 10.244.1.5, node, outside', 'sources')}
        <datalist id="sources">
          <option value="node">this node itself</option>
          <option value="outside">a client outside the cluster</option>
        </datalist>
      </label>
      <label>
        <span>To</span>
        {field('to', 'shop/web:http, 10.96.0.80:80/tcp, [fd00::80]:53/udp')}
      </label>
      <label class="check">
        <input
          type="checkbox"
          name="kernel"
          checked={query.kernel}
          onChange={({ currentTarget }) => setQuery({ ...query, kernel: currentTarget.checked })}
        />
        Rules as the kernel has them now
      </label>
      <button type="submit">Trace</button>
    </form>
  );
}

const OUTCOMES: Readonly<Record<TraceAnswer['outcome'], readonly [MarkKind, words: string]>> = {
  forward: ['ok', 'is forwarded'],
  reject: ['error', 'is rejected: the sender gets an error'],
  drop: ['error', 'is dropped: the sender gets no answer'],
  untouched: ['off', 'is untouched: no rule changes it'],
  mixed: ['warning', 'meets rules of other programs that leave it to chance'],
};

interface ResultProps extends Pick<Query, 'from' | 'to'> {
  readonly answer: TraceAnswer;
  /** When it arrived, in milliseconds since the epoch. */
  readonly time: number;
}

/** The outcome for the packet, its possible endpoints, and the rules that it met. */
function Result({ answer, time, from, to }: ResultProps): JSX.Element {
  const [mark, words] = OUTCOMES[answer.outcome];
  const { endpoints, sticky, reason, remarks } = answer;
  const next = sticky
    ? 'the next connection of the same client goes to the same endpoint'
    : 'each connection chooses its own endpoint';
  const { source, destination, destinationPort, protocol } = answer.packet;
  const lines: readonly ComponentChildren[] = [
    `packet: ${source || 'no source address'} → ${hostPort(destination, destinationPort)}/${protocol}`,
    ...(endpoints.length > 0 ? [`its source is ${SOURCE_WORDS[answer.sourceRewrite]}`, next] : []),
    ...(reason === undefined ? [] : [`because ${reason}`]),
    ...remarks,
  ];
  return (
    <>
      <section class="panel" aria-label="Outcome">
        <p class="verdict" role="status">
          <State kind={mark}>
            A packet from {from} to {to} {words}
          </State>{' '}
          <span class="quiet">at {clockTime(time)}</span>
        </p>
        {answer.uncertain && (
          <p>
            <State kind="warning">uncertain; the steps show the reason</State>
          </p>
        )}
        {endpoints.length > 0 && <Shares endpoints={endpoints} />}
        <Lines lines={lines} />
      </section>
      <Panel title="Rules on its path">
        <Steps steps={answer.steps} />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<TracedEndpoint>[] = [
  { name: 'address', title: 'Endpoint', cell: addressOf },
  { name: 'number', title: 'Probability', cell: percent },
];

/** The endpoints that the packet may reach, and their probabilities. */
function Shares({ endpoints }: { readonly endpoints: readonly TracedEndpoint[] }): JSX.Element {
  const [shown, setShown] = useState(0);
  const rows = useMemo(
    () => sortedBy(endpoints, (endpoint) => addressRank(addressOf(endpoint))),
    [endpoints],
  );
  const shares = new Set(endpoints.map(percent));
  return (
    <>
      {endpoints.length > 1 && shares.size === 1 && (
        <p>
          {counted(endpoints.length, 'endpoint')}, each with {[...shares][0]}
        </p>
      )}
      <Table
        label="Possible endpoints"
        {...{ columns: COLUMNS, rows, shown, keyOf: addressOf }}
        onMore={setShown}
      />
    </>
  );
}

function addressOf({ address, port }: TracedEndpoint): string {
  return hostPort(address, port);
}

function percent({ probability }: TracedEndpoint): string {
  return `${Number((probability * 100).toFixed(1))} %`;
}

/** The rules that a packet met; similar ones for several endpoints are folded. */
function Steps({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
  const folded = useMemo(() => foldSteps(steps), [steps]);
  if (folded.length === 0) return <p class="quiet">No rule acted on it.</p>;
  return (
    <ol class="steps">
      {folded.slice(0, ROWS).map((one, index) => (
        <StepItem key={index} {...one} />
      ))}
      {folded.length > ROWS && <li>and {counted(folded.length - ROWS, 'more step')}</li>}
    </ol>
  );
}

function StepItem({ step, alike }: FoldedStep): JSX.Element {
  const { hook, where, rule, effect, servicePort, foreign } = step;
  return (
    <li class={foreign ? 'foreign' : ''}>
      <p>
        <b>{effect}</b>{' '}
        <span class="quiet">
          {hook}, {where}
          {foreign && ', of another program'}
        </span>{' '}
        {servicePort !== undefined && <PortLink port={servicePort} />}
      </p>
      <code>{rule}</code>
      {alike.length > 0 && (
        <details>
          <summary>and {alike.length.toLocaleString('en')} more like it, for other endpoints</summary>
          <Lines lines={alike.map((one) => one.effect)} />
        </details>
      )}
    </li>
  );
}
