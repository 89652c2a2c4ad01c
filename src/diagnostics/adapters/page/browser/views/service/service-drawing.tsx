import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { PortExplanation } from '../../../../../application/explain/explanation.js';
import { useSize } from '../../parts/use-size.js';
import type { Arrivals } from './endpoint-order.js';
import { BOX_HEIGHT, drawingOf, type Box } from './drawing.js';

/** Pixels: the width of a letter, and what a box keeps free at its sides. */
const LETTER = 7;
const PADDING = 10;

interface DrawingProps {
  readonly port: PortExplanation;
  readonly arrivals: Arrivals;
  readonly label: string;
}

/** How packets of a service port go from its frontends to its endpoints. The list beside it says the same in words. */
export function ServiceDrawing({ port, arrivals, label }: DrawingProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useSize(box, ({ clientWidth }) => setWidth(clientWidth));
  const { height, boxes, lines } = drawingOf(port, arrivals, width, innerHeight);
  return (
    <div class="drawing" ref={box}>
      {width > 0 && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height + 2}
          viewBox={`-1 -1 ${width + 2} ${height + 2}`}
        >
          {lines.map(({ path, leadsOn }) => (
            <path key={path} d={path} class={leadsOn ? 'way' : 'way ends'} />
          ))}
          {boxes.map((one) => (
            <Labelled key={`${one.x} ${one.y}`} box={one} />
          ))}
        </svg>
      )}
    </div>
  );
}

function Labelled({ box }: { readonly box: Box }): JSX.Element {
  const { kind, mark, title, words, x, y, width } = box;
  const letters = Math.floor((width - 2 * PADDING) / LETTER);
  return (
    <g class={`box ${kind} ${mark}`} transform={`translate(${x} ${y})`}>
      <title>{`${title}: ${words}`}</title>
      <rect width={width} height={BOX_HEIGHT} rx="4" />
      <text x={PADDING} y="17" class="address">
        {cut(title, letters)}
      </text>
      <text x={PADDING} y="33" class="words">
        {cut(words, letters)}
      </text>
    </g>
  );
}

function cut(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, Math.max(1, letters - 1))}…`;
}
