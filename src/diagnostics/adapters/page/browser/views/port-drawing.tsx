import type { JSX } from 'preact';
import { grouped } from '../../../../../domain/model/maps.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../application/explain/explanation.js';
import type { MarkKind } from '../parts.js';
import { addressOf, endpointText, type Arrivals } from './endpoints.js';

/** Pixels: a box with the space below it, and the part of a window that is left for what is above the drawing. */
const BOX_SPACE = 52;
const ABOVE = 200;
const FEWEST_BOXES = 3;
/** As in page.css. */
const NARROW = '(max-width: 44rem)';

/**
 * The paths of packets from the frontends of a service port by its rules to its endpoints: from left to right, or one below the other
 * on a narrow page. The boxes are placed and connected by page.css. The list beside the drawing has the same content.
 * @param props.port its endpoints in the order of the drawing
 */
export function PortDrawing(props: {
  readonly port: PortExplanation;
  readonly arrivals: Arrivals;
  readonly label: string;
}): JSX.Element {
  const { port, arrivals, label } = props;
  const rules = rulesOf(port);
  const reached = new Set(rules.flatMap(({ endpoints }) => endpoints));
  const others = port.endpoints.filter((endpoint) => !reached.has(endpoint));
  // All of it is to be visible in one window.
  const lists = (rules.length + (others.length > 0 ? 1 : 0)) * (matchMedia(NARROW).matches ? 2 : 1);
  const most = Math.max(FEWEST_BOXES, Math.floor((innerHeight - ABOVE) / BOX_SPACE / Math.max(1, lists)));
  const endpointList = (endpoints: readonly EndpointExplanation[]): JSX.Element => (
    <Boxes boxes={endpointBoxes(endpoints, arrivals, most)} kind="endpoints" />
  );
  return (
    <div class="drawing" role="img" aria-label={label}>
      {rules.map((rule) => {
        const { policy, outcome, reason, frontends, endpoints } = rule;
        const title = `${policy}: ${outcome}`;
        const mark = outcome === 'forward' ? 'good' : 'bad';
        return (
          <div class={`path ${mark}`} key={`${title} ${reason}`}>
            <Boxes boxes={frontendBoxes(frontends, mark, most)} kind="frontends" />
            <Boxes boxes={[{ mark, title, words: reason }]} kind="rules" />
            {endpointList(endpoints)}
          </div>
        );
      })}
      {others.length > 0 && <div class="path unreached">{endpointList(others)}</div>}
    </div>
  );
}

interface Rule extends Pick<FrontendExplanation, 'policy' | 'outcome' | 'reason'> {
  readonly frontends: readonly FrontendExplanation[];
  /** Empty unless the outcome is `forward`. */
  readonly endpoints: readonly EndpointExplanation[];
}

/** The frontends of a service port, grouped by the outcome for their packets. */
export function rulesOf({ frontends, endpoints }: PortExplanation): readonly Rule[] {
  const groups = grouped(frontends, ({ policy, outcome, reason }) => `${policy} ${outcome} ${reason}`);
  return [...groups.values()].map((group) => {
    const { policy, outcome, reason } = group[0]!;
    const isReached = ({ used, local }: EndpointExplanation): boolean =>
      outcome === 'forward' && used && (policy === 'Cluster' || local);
    return { policy, outcome, reason, frontends: group, endpoints: endpoints.filter(isReached) };
  });
}

interface Box {
  readonly mark: MarkKind;
  readonly title: string;
  readonly words: string;
}

function frontendBoxes(
  frontends: readonly FrontendExplanation[],
  mark: MarkKind,
  most: number,
): readonly Box[] {
  const boxes = frontends.map((frontend) => ({ mark, title: addressOf(frontend), words: frontend.kind }));
  return limited(boxes, most);
}

export function endpointBoxes(
  endpoints: readonly EndpointExplanation[],
  arrivals: Arrivals,
  most: number,
): readonly Box[] {
  const boxes = endpoints.map((endpoint): Box => {
    const mark = endpoint.used ? 'good' : 'off';
    return { mark, title: addressOf(endpoint), words: endpointText(endpoint, arrivals) };
  });
  return limited(boxes, most);
}

/** As many boxes as fit, with one for the rest. */
function limited(boxes: readonly Box[], most: number): readonly Box[] {
  if (boxes.length <= most) return boxes;
  const { mark } = boxes[0]!;
  const rest = { mark, title: `and ${boxes.length - most + 1} more`, words: 'the list has all' };
  return [...boxes.slice(0, most - 1), rest];
}

function Boxes(props: {
  readonly boxes: readonly Box[];
  readonly kind: 'frontends' | 'rules' | 'endpoints';
}): JSX.Element {
  return (
    <div class={props.kind}>
      {props.boxes.map(({ mark, title, words }) => (
        <div key={title} class={`box ${mark}`} title={`${title}: ${words}`}>
          <span>{title}</span>
          <small>{words}</small>
        </div>
      ))}
    </div>
  );
}
