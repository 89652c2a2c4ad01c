import type { ComponentChildren, JSX, TargetedEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { hostPort } from '../../../../../domain/net/ip-family.js';
import type { TraceAnswer } from '../../../../application/trace/answer.js';
import { SOURCE_WORDS } from '../../../../application/words.js';
import { foldSteps, type FoldedStep, type TracedEndpoint } from '../../../../domain/trace/trace.js';
import {
  Field,
  Lines,
  Panel,
  PortLink,
  Problem,
  State,
  Table,
  type Column,
  type MarkKind,
} from '../parts.js';
import { useAnswer } from '../requests.js';
import { navigate, queryOf, type TraceRoute } from '../routing.js';
import { addressRank, clockTime } from '../text.js';

/** Where a packet would go, and why. */
export function TraceView({ route }: { readonly route: TraceRoute }): JSX.Element {
  const { from = '', to = '', kernel = false } = route;
  const hasQuery = from !== '' && to !== '';
  const polled = useAnswer<TraceAnswer>(hasQuery ? `debug/trace${queryOf({ from, to, kernel })}` : undefined);
  const { value, time } = polled;
  return (
    <>
      <h1>Trace</h1>
      <TraceForm {...{ from, to, kernel }} />
      {hasQuery && <Problem polled={polled} what="trace" />}
      {value && time !== undefined && <Result {...{ route, time }} answer={value} />}
      {!hasQuery && (
        <p class="quiet">
          Follows the first packet of a connection through this node’s rules, rule by rule, to its endpoints.
        </p>
      )}
    </>
  );
}

function TraceForm({ from, to, kernel }: Required<Pick<TraceRoute, 'from' | 'to' | 'kernel'>>): JSX.Element {
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const query = new FormData(event.currentTarget);
    const text = (name: string): string => (query.get(name) as string).trim();
    navigate({ view: 'trace', from: text('from'), to: text('to'), kernel: query.has('kernel') });
  };
  return (
    <form class="bar" onSubmit={submit}>
      <Field
        label="From"
        name="from"
        placeholder="pod/web-1, 10.244.1.5, node, outside"
        list="sources"
        defaultValue={from}
        required
      />
      <datalist id="sources">
        <option value="node">this node itself</option>
        <option value="outside">a client outside the cluster</option>
      </datalist>
      <Field
        label="To"
        name="to"
        placeholder="shop/web:http, 10.96.0.80:80/tcp, [fd00::80]:53/udp"
        defaultValue={to}
        required
      />
      <label>
        <input type="checkbox" name="kernel" defaultChecked={kernel} />
        Current rules of the kernel
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

interface ResultProps {
  readonly route: TraceRoute;
  readonly answer: TraceAnswer;
  /** When it arrived, in milliseconds since the epoch. */
  readonly time: number;
}

/** The outcome for the packet, its possible endpoints with their probabilities, and the rules that it met. */
function Result({ route, answer, time }: ResultProps): JSX.Element {
  const [mark, words] = OUTCOMES[answer.outcome];
  const { endpoints, sticky, reason, remarks, uncertain } = answer;
  const next = sticky
    ? 'the next connection of the same client goes to the same endpoint'
    : 'each connection chooses its own endpoint';
  const { source, destination, destinationPort, protocol } = answer.packet;
  const lines: readonly ComponentChildren[] = [
    `packet: ${source || 'no source address'} → ${hostPort(destination, destinationPort)}/${protocol}`,
    ...(endpoints.length > 0 ? [`its source is ${SOURCE_WORDS[answer.sourceRewrite]}`, next] : []),
    ...(reason === undefined ? [] : [`because ${reason}`]),
    ...remarks,
    ...(uncertain ? [<State kind="warning">uncertain; the steps show the reason</State>] : []),
  ];
  const rows = useMemo(() => endpoints.toSorted(byAddress), [endpoints]);
  const steps = useMemo(() => foldSteps(answer.steps), [answer.steps]);
  return (
    <>
      <section class="panel" aria-label="Outcome">
        <p class="verdict" role="status">
          <State kind={mark}>
            A packet from {route.from} to {route.to} {words}
          </State>{' '}
          <span class="quiet">at {clockTime(time)}</span>
        </p>
        {endpoints.length > 0 && (
          <Table label="Possible endpoints" columns={COLUMNS} rows={rows} keyOf={addressOf} route={route} />
        )}
        <Lines lines={lines} />
      </section>
      <Panel title="Rules on its path">
        {steps.length === 0 && <p class="quiet">No rule acted on it.</p>}
        <Lines steps lines={steps.map(stepLine)} />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<TracedEndpoint>[] = [
  { name: 'address', title: 'Endpoint', cell: addressOf },
  { name: 'number', title: 'Probability', cell: percent },
];

function addressOf({ address, port }: TracedEndpoint): string {
  return hostPort(address, port);
}

function byAddress(one: TracedEndpoint, other: TracedEndpoint): number {
  return addressRank(addressOf(one)) < addressRank(addressOf(other)) ? -1 : 1;
}

function percent({ probability }: TracedEndpoint): string {
  return `${Number((probability * 100).toFixed(1))} %`;
}

/** A rule that the packet met; similar ones for other endpoints are folded into it. */
function stepLine({ step, alike }: FoldedStep): JSX.Element {
  const { hook, where, rule, effect, servicePort, foreign } = step;
  return (
    <div class={foreign ? 'foreign' : ''}>
      <b>{effect}</b>{' '}
      <span class="quiet">
        {hook}, {where}
        {foreign && ', of another program'}
      </span>{' '}
      {servicePort !== undefined && <PortLink port={servicePort} />}
      <br />
      <code>{rule}</code>
      {alike.length > 0 && (
        <details>
          <summary>and {alike.length.toLocaleString('en')} more like it, for other endpoints</summary>
          <Lines lines={alike.map((one) => one.effect)} />
        </details>
      )}
    </div>
  );
}
