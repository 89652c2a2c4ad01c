import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { TraceAnswer } from '../../../../../application/trace/answer.js';
import { traceOf } from '../../asking/routes.js';
import { useChanges } from '../../asking/use-changes.js';
import { useFollowed } from '../../asking/use-followed.js';
import { Trouble } from '../../parts/trouble.js';
import type { Place } from '../../place.js';
import { go } from '../../use-place.js';
import { TraceResult } from './trace-result.js';

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
