import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { foldSteps, type FoldedStep, type Step } from '../../../../../domain/trace/trace.js';
import { Lines, MOST, moreThanShown } from '../../parts/lines.js';
import { PortLink } from '../../parts/port-link.js';

/** The rules that a packet met; what is the same for all endpoints, or alike, is there once. */
export function Steps({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
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
