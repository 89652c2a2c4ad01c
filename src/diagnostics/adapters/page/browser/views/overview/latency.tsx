import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { History } from '../../../../../../application/status/change-entry.js';
import { PortLink } from '../../parts/port-link.js';
import { clockTime, counted, span } from '../../parts/time.js';
import { programmedChanges, summary } from './latencies.js';
import { LatencyChart } from './latency-chart.js';

interface LatencyProps extends History {
  /** When the proxy last said how it is, by its own clock; undefined before that. */
  readonly now: string | undefined;
}

/** How long changes take, in numbers and as a chart. */
export function Latency({ changes, total, now }: LatencyProps): JSX.Element {
  const programmed = useMemo(() => programmedChanges(changes), [changes]);
  const numbers = useMemo(() => summary(programmed), [programmed]);
  if (!numbers) return <p class="absent">No change yet since the first sync.</p>;
  const { count, median, nearlyAll, slowest } = numbers;
  return (
    <>
      <p class="numbers">
        <span>
          Median <b>{span(median)}</b>
        </span>
        <span>
          99 of 100 within <b>{span(nearlyAll)}</b>
        </span>
        <span>
          Slowest <b>{span(slowest.took)}</b>, <PortLink port={slowest.servicePort} /> at{' '}
          {clockTime(slowest.at)}
        </span>
        <span>
          {counted(count, 'change')} shown, {total.toLocaleString('en')} since the start
        </span>
      </p>
      <LatencyChart changes={programmed} now={now} />
    </>
  );
}
