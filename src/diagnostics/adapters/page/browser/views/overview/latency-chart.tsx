import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import type { ServicePortChange } from '../../../../../../application/status/change-entry.js';
import { useSize } from '../../parts/use-size.js';
import { clockTime, span } from '../../parts/time.js';
import { timesShown } from './latencies.js';

const HEIGHT = 190;
/** Times are whole milliseconds; those of none are drawn here. */
const LEAST = 0.5;

interface ChartProps {
  readonly changes: readonly ServicePortChange[];
  /** RFC 3339. */
  readonly now: string | undefined;
}

/**
 * A point for each change: when it was programmed, and how long that took, up to now, so that quiet times are seen. The text beside it
 * says the same in numbers.
 */
export function LatencyChart({ changes, now }: ChartProps): JSX.Element {
  const end = useRef(0);
  if (now !== undefined) end.current = Date.parse(now);
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot | undefined>(undefined);

  useEffect(() => {
    const element = box.current!;
    const draw = (): void => {
      chart.current?.destroy();
      chart.current = new UPlot(
        optionsFor(element, () => end.current),
        dataOf(changes),
        element,
      );
    };
    draw();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => {
      scheme.removeEventListener('change', draw);
      chart.current?.destroy();
    };
  }, []);
  useSize(box, ({ clientWidth }) => chart.current?.setSize({ width: clientWidth, height: HEIGHT }));
  useEffect(() => chart.current?.setData(dataOf(changes)), [changes, now]);

  return <div class="chart" ref={box} aria-hidden="true" />;
}

function dataOf(changes: readonly ServicePortChange[]): UPlot.AlignedData {
  return [changes.map(({ at }) => Date.parse(at) / 1_000), changes.map(({ took }) => Math.max(took, LEAST))];
}

/** @param now milliseconds since the epoch */
function optionsFor(element: HTMLElement, now: () => number): UPlot.Options {
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
      x: { range: (_, first, last) => timesShown(first, last, now()) },
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
        filter: decades,
        grid: { ...axis.grid, filter: decades },
        values: (_, splits) => splits.map((value) => (value === null ? null : span(value))),
      },
    ],
    series: [
      {},
      {
        paths: () => null,
        // However close they are.
        points: { show: true, space: 0, size: 5, fill: color('--accent'), width: 0 },
      },
    ],
  };
}

/** Of the lines of a logarithmic axis, those at 1, 10, 100. */
function decades(_: UPlot, splits: readonly number[]): (number | null)[] {
  return splits.map((value) => (Number.isInteger(Number(Math.log10(value).toFixed(6))) ? value : null));
}
