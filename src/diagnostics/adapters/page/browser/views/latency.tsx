import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import type {
  ChangeEntry,
  History,
  ServicePortChange,
} from '../../../../../application/status/change-entry.js';
import { PortLink, useSize } from '../parts.js';
import { clockTime, counted, durationText, sortedBy } from '../text.js';

interface LatencyProps extends History {
  /** When the proxy last sent its status, by its own clock, in RFC 3339; undefined before that. */
  readonly now: string | undefined;
}

/** How long changes take, in numbers and as a chart. */
export function Latency({ changes, total, now }: LatencyProps): JSX.Element {
  const programmed = useMemo(() => programmedChanges(changes), [changes]);
  const numbers = useMemo(() => summary(programmed), [programmed]);
  if (!numbers) return <p class="absent">No change yet since the first sync.</p>;
  const { count, median, percentile99, slowest } = numbers;
  return (
    <>
      <p class="numbers">
        <span>
          Median <b>{durationText(median)}</b>
        </span>
        <span>
          99 of 100 within <b>{durationText(percentile99)}</b>
        </span>
        <span>
          Slowest <b>{durationText(slowest.durationSeconds * 1_000)}</b>,{' '}
          <PortLink port={slowest.servicePort} /> at {clockTime(slowest.time)}
        </span>
        <span>
          {counted(count, 'change')} shown, {total.toLocaleString('en')} since the start
        </span>
      </p>
      <LatencyChart changes={programmed} now={now === undefined ? 0 : Date.parse(now)} />
    </>
  );
}

/** How long changes took from their event to the kernel, in milliseconds. */
interface LatencySummary {
  readonly count: number;
  readonly median: number;
  readonly percentile99: number;
  readonly slowest: ServicePortChange;
}

/** The changes that reached the kernel, the oldest first. */
export function programmedChanges(changes: readonly ChangeEntry[]): readonly ServicePortChange[] {
  return changes.filter(
    (change): change is ServicePortChange => change.kind === 'service-port' && change.result !== 'failed',
  );
}

/** Undefined without changes. */
export function summary(changes: readonly ServicePortChange[]): LatencySummary | undefined {
  if (changes.length === 0) return undefined;
  const sorted = sortedBy(changes, ({ durationSeconds }) => durationSeconds);
  const at = (share: number): ServicePortChange => sorted[Math.ceil(share * sorted.length) - 1]!;
  return {
    count: sorted.length,
    median: at(0.5).durationSeconds * 1_000,
    percentile99: at(0.99).durationSeconds * 1_000,
    slowest: at(1),
  };
}

/** Pixels. */
const HEIGHT = 190;
/** Times are whole milliseconds; this is where zero is on the logarithmic axis. */
const LEAST = 0.5;

interface ChartProps {
  readonly changes: readonly ServicePortChange[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A point for each change: when it was programmed, and how long that took. The text beside it has the same in numbers. */
function LatencyChart({ changes, now }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useSize(box, ({ clientWidth }) => setWidth(clientWidth));
  // The colors are those of the present scheme, so the chart is drawn anew each time.
  useLayoutEffect(() => {
    const data: UPlot.AlignedData = [
      changes.map(({ time }) => Date.parse(time) / 1_000),
      changes.map(({ durationSeconds }) => Math.max(durationSeconds * 1_000, LEAST)),
    ];
    const chart = new UPlot(chartOptions(box.current!, now), data, box.current!);
    return () => chart.destroy();
  }, [changes, now, width]);
  return <div class="chart" ref={box} aria-hidden="true" />;
}

function chartOptions(element: HTMLElement, now: number): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis: UPlot.Axis = {
    stroke: color('--quiet'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, first, last) => timesShown(first, last, now) },
      y: { distr: 3, range: (_, low, high) => [low / 2, Math.max(high * 2, low * 20)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 90,
        values: (_, splits) => splits.map((second) => clockTime(second * 1_000)),
      },
      {
        ...axis,
        size: 64,
        filter: powersOfTen,
        grid: { ...axis.grid, filter: powersOfTen },
        values: (_, splits) => splits.map((value) => (value === null ? null : durationText(value))),
      },
    ],
    series: [
      {},
      {
        paths: () => null,
        // Without space, points that are close to each other are drawn, too.
        points: { show: true, space: 0, size: 5, fill: color('--accent'), width: 0 },
      },
    ],
  };
}

const LEAST_SECONDS = 10;

/** The time axis ends now, so that it shows quiet times. Seconds; now in milliseconds. */
export function timesShown(first: number, last: number, now: number): [from: number, to: number] {
  const to = Math.max(last, now / 1_000);
  return [Math.min(first, to - LEAST_SECONDS), to];
}

function powersOfTen(_: UPlot, splits: readonly number[]): (number | null)[] {
  return splits.map((value) => (Number.isInteger(Number(Math.log10(value).toFixed(6))) ? value : null));
}
