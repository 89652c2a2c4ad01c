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
import { Grid, type Column } from '../grid.js';
import { Lines, Mark, MOST, moreThanShown, Panel, PortLink, Problem, type MarkKind } from '../parts.js';
import { useChanges, usePolled } from '../requests.js';
import { navigate, queryOf, type TraceRoute } from '../routing.js';
import { addressRank, clockTime, counted, sortedBy } from '../text.js';

/** Where a packet would go, and why. */
export function TraceView({ route }: { readonly route: TraceRoute }): JSX.Element {
  const { from = '', to = '', kernel = false } = route;
  const hasQuery = from !== '' && to !== '';
  const [submits, setSubmits] = useState(0);
  const changes = useChanges();
  // Reading the kernel's rules is expensive, so only the user repeats it.
  const when = kernel ? `${submits}` : changes && `${submits} ${changes}`;
  const path = `debug/trace${queryOf({ from, to, kernel: kernel ? 'true' : '' })}`;
  const { value, at, problem } = usePolled<TraceAnswer>(hasQuery ? path : undefined, {
    period: Infinity,
    when,
  });
  return (
    <>
      <h1>Trace</h1>
      <TraceForm key={path} {...{ from, to, kernel }} onSubmit={() => setSubmits(submits + 1)} />
      <Problem problem={problem} what="trace" />
      {hasQuery && !value && !problem && <p class="absent">Loading…</p>}
      {hasQuery && value && at !== undefined && <Result answer={value} at={at} from={from} to={to} />}
      {!hasQuery && (
        <p class="absent">
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
    <form class="ask" onSubmit={submit}>
      <label>
        <span>From</span>
        {field('from', '10.244.1.5, node, outside', 'sources')}
        <datalist id="sources">
          <option value="node">this node itself</option>
          <option value="outside">a client outside the cluster</option>
        </datalist>
      </label>
      <label>
        <span>To</span>
        {field('to', '10.96.0.80:80/tcp, [fd00::80]:53/udp')}
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
  forward: ['good', 'is forwarded'],
  refused: ['bad', 'is refused: the sender gets an error'],
  dropped: ['bad', 'is dropped: the sender gets no answer'],
  untouched: ['off', 'is not changed by any rule'],
  mixed: ['waiting', 'meets rules of other programs that leave it to chance'],
};

interface ResultProps extends Pick<Query, 'from' | 'to'> {
  readonly answer: TraceAnswer;
  /** When it arrived, in milliseconds since the epoch. */
  readonly at: number;
}

/** The outcome for the packet, its possible endpoints, and the rules that it met. */
function Result({ answer, at, from, to }: ResultProps): JSX.Element {
  const [mark, words] = OUTCOMES[answer.outcome];
  const { endpoints, sticky, reason, remarks } = answer;
  const next = sticky
    ? 'the next connection of the same client goes to the same endpoint'
    : 'each connection chooses its endpoint anew';
  const lines: readonly ComponentChildren[] = [
    ...(endpoints.length > 0 ? [`its source is ${SOURCE_WORDS[`${answer.sourceRewritten}`]}`, next] : []),
    ...(reason === undefined ? [] : [`because ${reason}`]),
    ...remarks,
  ];
  return (
    <>
      <section class="panel" aria-label="Outcome">
        <p class={`verdict ${mark}`} role="status">
          <Mark kind={mark} /> A packet from {from} to {to} {words}{' '}
          <span class="quiet">at {clockTime(at)}</span>
        </p>
        {answer.uncertain && (
          <p class="bad">
            <Mark kind="bad" /> Uncertain; the steps say why.
          </p>
        )}
        {endpoints.length > 0 && <Shares endpoints={endpoints} />}
        <ul class="lines">
          {lines.map((line, index) => (
            <li key={index}>{line}</li>
          ))}
        </ul>
      </section>
      <Panel title="The rules that it met">
        <Steps steps={answer.steps} />
      </Panel>
    </>
  );
}

const MOST_ROWS = 12;

const COLUMNS: readonly Column<TracedEndpoint>[] = [
  { name: 'address', title: 'Endpoint', text: addressOf },
  { name: 'number', title: 'Probability', text: percent },
  {
    name: 'share-bar',
    title: 'Share',
    text: percent,
    cell: ({ probability }) => <span class="share" style={{ width: `${probability * 100}%` }} />,
  },
];

/** The endpoints that the packet may reach, and their probabilities. */
function Shares({ endpoints }: { readonly endpoints: readonly TracedEndpoint[] }): JSX.Element {
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
      <Grid
        name="shares"
        label="Where it may go"
        rows={rows}
        columns={COLUMNS}
        keyOf={addressOf}
        most={MOST_ROWS}
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
  if (folded.length === 0) return <p class="absent">No rule acted on it.</p>;
  return (
    <ol class="steps">
      {folded.slice(0, MOST).map((one, index) => (
        <StepItem key={index} {...one} />
      ))}
      {folded.length > MOST && <li>{moreThanShown(folded.length)}</li>}
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
