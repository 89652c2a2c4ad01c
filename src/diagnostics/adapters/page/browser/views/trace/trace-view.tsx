import type { JSX } from 'preact';
import { useState, useMemo } from 'preact/hooks';
import type { TraceAnswer } from '../../../../../application/trace/answer.js';
import { traceOf } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Trouble } from '../../parts/trouble.js';
import type { Place } from '../../place.js';
import { go } from '../../use-place.js';
import {
  foldSteps,
  type FoldedStep,
  type Step,
  type TracedEndpoint,
} from '../../../../../domain/trace/trace.js';
import { Lines, MOST, moreThanShown } from '../../parts/lines.js';
import { PortLink } from '../../parts/port-link.js';
import { hostPort } from '../../../../../../domain/net/ip-family.js';
import { addressOrder } from '../../address-order.js';
import { compare } from '../../compare.js';
import type { Column } from '../../parts/grid/column.js';
import { Grid } from '../../parts/grid/grid.js';
import { counted, clockTime } from '../../parts/time.js';
import { SOURCE_WORDS } from '../../../../../application/words.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import { Panel } from '../../parts/panel.js';

type TracePlace = Extract<Place, { readonly view: 'trace' }>;

/** Where a packet would go, and why. The query stands in the address of the page. */
export function TraceView({ place }: { readonly place: TracePlace }): JSX.Element {
  const { from, to, kernel } = place;
  const isAsked = from !== '' && to !== '';
  const [times, setTimes] = useState(0);
  const changes = useChanges();
  // To read the rules of the kernel costs more than to follow those that the proxy has in mind.
  const when = kernel ? `${times}` : changes && `${times} ${changes}`;
  const path = isAsked ? traceOf(from, to, kernel) : undefined;
  const { value, at, problem } = useFollowed<TraceAnswer>(path, { period: Infinity, when });
  return (
    <>
      <h1>Trace</h1>
      <TraceForm place={place} key={`${from} ${to} ${kernel}`} onAsk={() => setTimes(times + 1)} />
      <Trouble problem={problem} what="trace" />
      {isAsked && !value && !problem && <p class="absent">Asking the proxy…</p>}
      {isAsked && value && at !== undefined && <TraceResult answer={value} at={at} from={from} to={to} />}
      {!isAsked && (
        <p class="absent">
          Follows the first packet of a connection through this node’s rules, rule by rule, to its endpoints.
        </p>
      )}
    </>
  );
}

interface FormProps {
  readonly place: TracePlace;
  readonly onAsk: () => void;
}

function TraceForm({ place, onAsk }: FormProps): JSX.Element {
  const [asked, setAsked] = useState(place);
  const submit = (event: Event): void => {
    event.preventDefault();
    go({ ...asked, from: asked.from.trim(), to: asked.to.trim() });
    onAsk();
  };
  return (
    <form class="ask" onSubmit={submit}>
      <label>
        <span>From</span>
        <input
          name="from"
          required
          list="sources"
          value={asked.from}
          placeholder="10.244.1.5, node, outside"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setAsked({ ...asked, from: currentTarget.value })}
        />
        <datalist id="sources">
          <option value="node">this node itself</option>
          <option value="outside">a client outside the cluster</option>
        </datalist>
      </label>
      <label>
        <span>To</span>
        <input
          name="to"
          required
          value={asked.to}
          placeholder="10.96.0.80:80/tcp, [fd00::80]:53/udp"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setAsked({ ...asked, to: currentTarget.value })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          name="kernel"
          checked={asked.kernel}
          onChange={({ currentTarget }) => setAsked({ ...asked, kernel: currentTarget.checked })}
        />
        Rules as the kernel has them now
      </label>
      <button type="submit">Trace</button>
    </form>
  );
}

/** The rules that a packet met; what is the same for all endpoints, or alike, is there once. */
function Steps({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
  const folded = useMemo(() => foldSteps(steps), [steps]);
  if (folded.length === 0) return <p class="absent">No rule acted on it.</p>;
  return (
    <ol class="steps">
      {folded.slice(0, MOST).map((one, place) => (
        <StepItem key={place} {...one} />
      ))}
      {folded.length > MOST && <li>{moreThanShown(folded.length)}</li>}
    </ol>
  );
}

function StepItem({ step, alike }: FoldedStep): JSX.Element {
  const { hook, where, rule, effect, servicePort, isForeign } = step;
  return (
    <li class={isForeign ? 'foreign' : ''}>
      <p>
        <b>{effect}</b>{' '}
        <span class="quiet">
          {hook}, {where}
          {isForeign && ', of another program'}
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

const MOST_ROWS = 12;

const COLUMNS: readonly Column<TracedEndpoint>[] = [
  { name: 'address', title: 'Endpoint', text: placeOf },
  { name: 'number', title: 'Probability', text: ({ probability }) => percent(probability) },
  {
    name: 'share-bar',
    title: 'Share',
    text: ({ probability }) => percent(probability),
    cell: ({ probability }) => <span class="share" style={{ width: `${probability * 100}%` }} />,
  },
];

/** Where the packet may go, with which probability, by address; that it is the same for all is said once. */
function Shares({ endpoints }: { readonly endpoints: readonly TracedEndpoint[] }): JSX.Element {
  const sorted = useMemo(() => byAddress(endpoints), [endpoints]);
  const shares = new Set(endpoints.map(({ probability }) => percent(probability)));
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
        rows={sorted}
        columns={COLUMNS}
        keyOf={placeOf}
        most={MOST_ROWS}
      />
    </>
  );
}

function byAddress(endpoints: readonly TracedEndpoint[]): readonly TracedEndpoint[] {
  return endpoints
    .map((endpoint) => ({ endpoint, order: addressOrder(placeOf(endpoint)) }))
    .sort((a, b) => compare(a.order, b.order))
    .map(({ endpoint }) => endpoint);
}

function placeOf({ address, port }: TracedEndpoint): string {
  return hostPort(address, port);
}

function percent(probability: number): string {
  return `${Number((probability * 100).toFixed(1))} %`;
}

const OUTCOMES: Readonly<
  Record<TraceAnswer['outcome'], { readonly mark: MarkKind; readonly words: string }>
> = {
  forward: { mark: 'good', words: 'is forwarded' },
  refused: { mark: 'bad', words: 'is refused: the sender gets an error' },
  dropped: { mark: 'bad', words: 'is dropped: the sender gets no answer' },
  untouched: { mark: 'off', words: 'is left as it is by all rules' },
  mixed: { mark: 'waiting', words: 'meets rules of other programs that leave it to chance' },
};

interface ResultProps {
  readonly answer: TraceAnswer;
  /** When the proxy said so, in milliseconds since the epoch. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

/** What becomes of the packet, where it may go, and the rules that it met. */
function TraceResult({ answer, at, from, to }: ResultProps): JSX.Element {
  const { mark, words } = OUTCOMES[answer.outcome];
  return (
    <>
      <section class="panel" aria-label="Outcome">
        <p class={`verdict ${mark}`} role="status">
          <Mark kind={mark} /> A packet from {from} to {to} {words}{' '}
          <span class="quiet">at {clockTime(at)}</span>
        </p>
        {answer.isUncertain && (
          <p class="bad">
            <Mark kind="bad" /> Uncertain; the steps say why.
          </p>
        )}
        {answer.endpoints.length > 0 && <Shares endpoints={answer.endpoints} />}
        <ul class="lines">
          {answer.endpoints.length > 0 && (
            <>
              <li>its source is {SOURCE_WORDS[`${answer.sourceRewritten}`]}</li>
              <li>
                {answer.sticky
                  ? 'the next connection of the same client goes to the same endpoint'
                  : 'each connection chooses its endpoint anew'}
              </li>
            </>
          )}
          {answer.reason !== undefined && <li>because {answer.reason}</li>}
          {answer.remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      </section>
      <Panel title="The rules that it met">
        <Steps steps={answer.steps} />
      </Panel>
    </>
  );
}
