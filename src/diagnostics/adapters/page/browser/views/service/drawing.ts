import type { EndpointExplanation, PortExplanation } from '../../../../../application/explain/explanation.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import type { Arrivals } from './endpoint-order.js';
import { rulesOf, type Rule } from './rules.js';
import { endpointAddress, endpointText, frontendAddress } from './words.js';

/** A box with a line of text and one that explains it. Lengths in pixels. */
export interface Box {
  readonly kind: 'frontend' | 'rule' | 'endpoint';
  readonly mark: MarkKind;
  readonly title: string;
  readonly words: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** A line between two boxes, as the `d` of an SVG path. */
export interface Line {
  readonly path: string;
  readonly leadsOn: boolean;
}

export interface Drawing {
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

export const BOX_HEIGHT = 42;
const GAP = 10;
/** Between the columns of a wide drawing. */
const AISLE = 56;
const INDENT = 22;
const NARROW = 620;
/** What a drawing leaves of the height of a window: for what stands above it. */
const ABOVE = 200;
const FEWEST_BOXES = 3;

type Content = Omit<Box, 'x' | 'y' | 'width'>;

/**
 * Frontends, what becomes of their packets, and endpoints: from left to right, or one below the other where it is narrow. What there is
 * no room for in the window is told in one box of each column, so that all of it is seen at once.
 * @param port its endpoints in the order in which they are drawn, those that are used before the others
 */
export function drawingOf(
  port: PortExplanation,
  arrivals: Arrivals,
  width: number,
  windowHeight: number,
): Drawing {
  const most = Math.max(FEWEST_BOXES, Math.floor((windowHeight - ABOVE) / (BOX_HEIGHT + GAP)));
  return width < NARROW
    ? narrowDrawing(port, arrivals, width, most)
    : wideDrawing(port, arrivals, width, most);
}

function wideDrawing(port: PortExplanation, arrivals: Arrivals, width: number, most: number): Drawing {
  const rules = rulesOf(port);
  const all = rules.flatMap((rule) => rule.frontends.map((frontend) => ({ frontend, rule })));
  const { shown: frontends, rest: moreFrontends } = fitting(all, most);
  const { shown, rest } = fitting(usedFirst(port.endpoints), most);
  const more = restContent(rest);
  const rows = Math.max(
    frontends.length + (moreFrontends.length > 0 ? 1 : 0),
    rules.length,
    shown.length + more.length,
  );
  const height = rows * (BOX_HEIGHT + GAP) - GAP;
  const column = Math.floor((width - 2 * AISLE) / 3);
  const place = (content: readonly Content[], index: number): readonly Box[] => {
    const used = content.length * (BOX_HEIGHT + GAP) - GAP;
    return content.map((one, row) => ({
      ...one,
      x: index * (column + AISLE),
      y: (height - used) / 2 + row * (BOX_HEIGHT + GAP),
      width: column,
    }));
  };
  const left = place(
    [
      ...frontends.map(({ frontend, rule }) => frontendContent(frontend, rule)),
      ...moreFrontendsContent(moreFrontends.length),
    ],
    0,
  );
  const middle = place(rules.map(ruleContent), 1);
  const right = place([...shown.map((one) => endpointContent(one, arrivals)), ...more], 2);
  const across = (from: Box, to: Box, leadsOn: boolean): Line => {
    const [x1, y1, x2, y2] = [from.x + from.width, from.y + BOX_HEIGHT / 2, to.x, to.y + BOX_HEIGHT / 2];
    const bend = (x1 + x2) / 2;
    return { path: `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`, leadsOn };
  };
  return {
    height: Math.max(height, 0),
    boxes: [...left, ...middle, ...right],
    lines: [
      ...frontends.map(({ rule }, row) =>
        across(left[row]!, middle[rules.indexOf(rule)]!, rule.outcome === 'forward'),
      ),
      ...rules.flatMap((rule, row) => {
        const leadsTo = new Set(rule.endpoints);
        const targets = [...shown.map((endpoint) => [endpoint]), ...(more.length > 0 ? [rest] : [])];
        return targets.flatMap((endpoints, place_) =>
          endpoints.some((endpoint) => leadsTo.has(endpoint))
            ? [across(middle[row]!, right[place_]!, true)]
            : [],
        );
      }),
    ],
  };
}

/** Each rule with its frontends above and its endpoints below; those that no rule uses come last. */
function narrowDrawing(port: PortExplanation, arrivals: Arrivals, width: number, most: number): Drawing {
  const boxes: Box[] = [];
  const lines: Line[] = [];
  let y = 0;
  const add = (content: Content, depth: number): Box => {
    const box = { ...content, x: depth * INDENT, y, width: width - depth * INDENT };
    boxes.push(box);
    y += BOX_HEIGHT + GAP;
    return box;
  };
  const down = (from: Box, to: Box, leadsOn: boolean): void => {
    const rail = from.x + INDENT / 2;
    const start = from.y + BOX_HEIGHT;
    lines.push({ path: `M${rail} ${start}V${to.y + BOX_HEIGHT / 2}H${to.x}`, leadsOn });
  };
  const rules = rulesOf(port);
  // Each rule has two lists, and at the end are those that no rule uses.
  const each = Math.max(FEWEST_BOXES, Math.floor(most / (2 * rules.length + 1)));
  for (const rule of rules) {
    const frontends = fitting(rule.frontends, each);
    const above = frontends.shown.map((frontend) => add(frontendContent(frontend, rule), 0));
    above.push(...moreFrontendsContent(frontends.rest.length).map((content) => add(content, 0)));
    const box = add(ruleContent(rule), 1);
    for (const one of above) down(one, box, rule.outcome === 'forward');
    for (const content of endpointContents(rule.endpoints, arrivals, each)) down(box, add(content, 2), true);
  }
  const unused = port.endpoints.filter(({ used }) => !used);
  for (const content of endpointContents(unused, arrivals, each)) add(content, 2);
  return { height: Math.max(y - GAP, 0), boxes, lines };
}

function endpointContents(
  endpoints: readonly EndpointExplanation[],
  arrivals: Arrivals,
  most: number,
): readonly Content[] {
  const { shown, rest } = fitting(endpoints, most);
  return [...shown.map((one) => endpointContent(one, arrivals)), ...restContent(rest)];
}

/** As many as there is room for, of which the last may be needed to tell of the rest. */
function fitting<Item>(
  all: readonly Item[],
  most: number,
): { readonly shown: readonly Item[]; readonly rest: readonly Item[] } {
  const end = all.length <= most ? all.length : most - 1;
  return { shown: all.slice(0, end), rest: all.slice(end) };
}

function usedFirst(endpoints: readonly EndpointExplanation[]): readonly EndpointExplanation[] {
  return [...endpoints].sort((a, b) => Number(b.used) - Number(a.used));
}

function restContent(rest: readonly EndpointExplanation[]): readonly Content[] {
  if (rest.length === 0) return [];
  const used = rest.filter((endpoint) => endpoint.used).length;
  const words = `${used} used, ${rest.length - used} not used`;
  return [{ kind: 'endpoint', mark: used > 0 ? 'good' : 'off', title: `and ${rest.length} more`, words }];
}

function moreFrontendsContent(count: number): readonly Content[] {
  if (count === 0) return [];
  return [{ kind: 'frontend', mark: 'off', title: `and ${count} more`, words: 'the list has all' }];
}

function frontendContent(frontend: Rule['frontends'][number], { outcome }: Rule): Content {
  const mark = outcome === 'forward' ? 'good' : 'bad';
  return { kind: 'frontend', mark, title: frontendAddress(frontend), words: frontend.kind };
}

function ruleContent(rule: Rule): Content {
  const mark = rule.outcome === 'forward' ? 'good' : 'bad';
  return { kind: 'rule', mark, title: `${rule.policy}: ${rule.outcome}`, words: rule.reason };
}

function endpointContent(endpoint: EndpointExplanation, arrivals: Arrivals): Content {
  const mark = endpoint.used ? 'good' : 'off';
  const title = endpointAddress(endpoint);
  return { kind: 'endpoint', mark, title, words: endpointText(endpoint, arrivals.get(title)) };
}
