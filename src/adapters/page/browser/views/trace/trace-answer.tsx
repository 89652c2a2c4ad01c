import type { JSX } from 'preact';
import type { Step, Trace, TracedEndpoint } from '../../asking/answers.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { Mark } from '../../parts/mark.js';
import { clockTime } from '../../parts/time.js';
import { PortLink } from '../../parts/port-link.js';

const OUTCOMES: Readonly<Record<Trace['outcome'], { readonly mark: MarkKind; readonly words: string }>> = {
  forward: { mark: 'good', words: 'is forwarded' },
  refused: { mark: 'bad', words: 'is refused: the sender gets an error' },
  dropped: { mark: 'bad', words: 'is dropped: the sender gets no answer' },
  untouched: { mark: 'off', words: 'is left as it is by all rules' },
  mixed: { mark: 'waiting', words: 'meets rules of other programs that leave it to chance' },
};

interface AnswerProps {
  readonly trace: Trace;
  /** When the proxy said so, in milliseconds since the epoch. */
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

/** What becomes of the packet, where it may go, and the rules that it met. */
export function TraceAnswer({ trace, at, from, to }: AnswerProps): JSX.Element {
  const { mark, words } = OUTCOMES[trace.outcome];
  return (
    <>
      <section class="panel" aria-label="Outcome">
        <p class={`verdict ${mark}`} role="status">
          <Mark kind={mark} /> A packet from {from} to {to} {words}{' '}
          <span class="quiet">at {clockTime(at)}</span>
        </p>
        {trace.outcome === 'forward' && (
          <ul class="lines">
            <li>{sourceWords(trace.sourceRewritten)}</li>
            <li>
              {trace.sticky
                ? 'The next connection of the same client goes to the same endpoint.'
                : 'Each connection chooses its endpoint anew.'}
            </li>
          </ul>
        )}
        {trace.endpoints.length > 0 && <Shares endpoints={trace.endpoints} />}
      </section>
      <section class="panel" aria-label="Rules">
        <h2>The rules that it met</h2>
        <Steps steps={trace.steps} />
      </section>
    </>
  );
}

function sourceWords(rewritten: Trace['sourceRewritten']): string {
  switch (rewritten) {
    case true:
      return 'Its source is rewritten to an address of this node.';
    case false:
      return 'Its source stays: the endpoint sees the client’s address.';
    case 'mixed':
      return 'Whether its source is rewritten depends on the endpoint.';
  }
}

function Shares({ endpoints }: { readonly endpoints: readonly TracedEndpoint[] }): JSX.Element {
  return (
    <table class="shares">
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col" class="number">
            Probability
          </th>
          <th scope="col" class="bar-cell" aria-hidden="true" />
        </tr>
      </thead>
      <tbody>
        {endpoints.map(({ address, port, probability }) => (
          <tr key={`${address} ${port}`}>
            <td>
              <code>{address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`}</code>
            </td>
            <td class="number">{`${Number((probability * 100).toFixed(1))} %`}</td>
            <td class="bar-cell" aria-hidden="true">
              <span class="share" style={{ width: `${probability * 100}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Steps({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
  if (steps.length === 0) return <p class="absent">No rule acted on it.</p>;
  return (
    <ol class="steps">
      {steps.map(({ hook, where, rule, effect, servicePort, isForeign }, place) => (
        <li key={place} class={isForeign ? 'foreign' : ''}>
          <p>
            <b>{effect}</b>{' '}
            <span class="quiet">
              {hook}, {where}
              {isForeign && ', of another program'}
            </span>{' '}
            {servicePort !== undefined && <PortLink port={servicePort} />}
          </p>
          <code>{rule}</code>
        </li>
      ))}
    </ol>
  );
}
