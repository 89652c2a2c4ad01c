import { endpointWords } from '../../../../../application/words/endpoint-words.js';
import type { EndpointExplanation, PortExplanation } from '../../../../../application/explain/explanation.js';
import type { MarkKind } from '../../parts/mark-kind.js';
import { rulesOf, type Rule } from './rules.js';
import { endpointAddress, frontendAddress } from './words.js';

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
/** Endpoints beyond are told in one box. */
const MOST_ENDPOINTS = 24;

type Content = Omit<Box, 'x' | 'y' | 'width'>;

/** Frontends, what becomes of their packets, and endpoints: from left to right, or one below the other where it is narrow. */
export function drawingOf(port: PortExplanation, width: number): Drawing {
  return width < NARROW ? narrowDrawing(port, width) : wideDrawing(port, width);
}

function wideDrawing(port: PortExplanation, width: number): Drawing {
  const rules = rulesOf(port);
  const frontends = rules.flatMap((rule) => rule.frontends.map((frontend) => ({ frontend, rule })));
  const { shown, more } = shownEndpoints(port.endpoints);
  const rows = Math.max(frontends.length, rules.length, shown.length + more.length);
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
    frontends.map(({ frontend, rule }) => frontendContent(frontend, rule)),
    0,
  );
  const middle = place(rules.map(ruleContent), 1);
  const right = place([...shown.map(endpointContent), ...more], 2);
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
      ...rules.flatMap((rule, row) =>
        shown.flatMap((endpoint, column_) =>
          rule.endpoints.includes(endpoint) ? [across(middle[row]!, right[column_]!, true)] : [],
        ),
      ),
    ],
  };
}

/** Each rule with its frontends above and its endpoints below; those that no rule uses come last. */
function narrowDrawing(port: PortExplanation, width: number): Drawing {
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
  for (const rule of rulesOf(port)) {
    const above = rule.frontends.map((frontend) => add(frontendContent(frontend, rule), 0));
    const box = add(ruleContent(rule), 1);
    for (const one of above) down(one, box, rule.outcome === 'forward');
    const { shown, more } = shownEndpoints(rule.endpoints);
    for (const endpoint of shown) down(box, add(endpointContent(endpoint), 2), true);
    for (const rest of more) add(rest, 2);
  }
  const { shown, more } = shownEndpoints(port.endpoints.filter(({ used }) => !used));
  for (const content of [...shown.map(endpointContent), ...more]) add(content, 2);
  return { height: Math.max(y - GAP, 0), boxes, lines };
}

function shownEndpoints(all: readonly EndpointExplanation[]): {
  readonly shown: readonly EndpointExplanation[];
  readonly more: readonly Content[];
} {
  const usedFirst = [...all].sort((a, b) => Number(b.used) - Number(a.used));
  if (usedFirst.length <= MOST_ENDPOINTS) return { shown: usedFirst, more: [] };
  const rest = usedFirst.slice(MOST_ENDPOINTS);
  const used = rest.filter((endpoint) => endpoint.used).length;
  const words = `${used} used, ${rest.length - used} not used`;
  return {
    shown: usedFirst.slice(0, MOST_ENDPOINTS),
    more: [{ kind: 'endpoint', mark: 'off', title: `and ${rest.length} more`, words }],
  };
}

function frontendContent(frontend: Rule['frontends'][number], { outcome }: Rule): Content {
  const mark = outcome === 'forward' ? 'good' : 'bad';
  return { kind: 'frontend', mark, title: frontendAddress(frontend), words: frontend.kind };
}

function ruleContent(rule: Rule): Content {
  const mark = rule.outcome === 'forward' ? 'good' : 'bad';
  return { kind: 'rule', mark, title: `${rule.policy}: ${rule.outcome}`, words: rule.reason };
}

function endpointContent(endpoint: EndpointExplanation): Content {
  const mark = endpoint.used ? 'good' : 'off';
  return { kind: 'endpoint', mark, title: endpointAddress(endpoint), words: endpointWords(endpoint) };
}
