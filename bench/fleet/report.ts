import type { Cost, FleetSize } from './fleet.js';

/** Width of the parts of time in which requests are counted. Milliseconds. */
const PART = 250;
const PARTS = 24;
const BARS = ' ▁▂▃▄▅▆▇█';

type Column = readonly [title: string, cell: (cost: Cost, nodes: number) => string];

const columns: readonly Column[] = [
  ['event', ({ event }) => event],
  ['requests', ({ requests }) => requests.length.toLocaleString('en')],
  ['of them 429', ({ refused }) => refused.toLocaleString('en')],
  ['most requests in 0.1 s', ({ requests }) => busiest(requests, 100).toLocaleString('en')],
  ['all nodes current after', ({ duration }) => `${(duration / 1000).toFixed(1)} s`],
  ['bytes to a node', ({ sent }, nodes) => bytes(sent / nodes)],
  ['from a node', ({ received }, nodes) => bytes(received / nodes)],
  ['handshakes: full, resumed', ({ handshakes: { full, resumed } }) => `${full}, ${resumed}`],
  ['processor: server, a node', (cost, nodes) => `${seconds(cost.processor)}, ${milliseconds(cost, nodes)}`],
  [`requests in each ${PART} ms`, ({ requests }) => bars(requests)],
];

/** What happened to a fleet, as a table in Markdown. */
export function fleetTable({ nodes, services, endpoints }: FleetSize, costs: readonly Cost[]): string {
  const lines = [
    columns.map(([title]) => title),
    columns.map((_, index) => (index === 0 ? '---' : '--:')),
    ...costs.map((cost) => columns.map(([, cell]) => cell(cost, nodes))),
  ];
  const title = `${nodes} nodes, ${services.toLocaleString('en')} services of ${endpoints} endpoints`;
  return `${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;
}

/** The most requests within one part of time of this width. */
export function busiest(requests: readonly number[], width: number): number {
  return Math.max(0, ...counts(requests, width));
}

/** Requests over time as a row of bars, the highest for the busiest part. */
export function bars(requests: readonly number[]): string {
  const inParts = counts(requests, PART).slice(0, PARTS);
  const most = Math.max(...inParts);
  const row = inParts.map((count) => BARS[Math.ceil((count / most) * (BARS.length - 1))]).join('');
  return requests.length > 0 ? `\`${row}\`` : '–';
}

function counts(times: readonly number[], width: number): readonly number[] {
  const inParts: number[] = [];
  for (const time of times) {
    const part = Math.floor(time / width);
    while (inParts.length <= part) inParts.push(0);
    inParts[part]!++;
  }
  return inParts;
}

function bytes(number: number): string {
  if (number >= 1e6) return `${(number / 1e6).toFixed(2)} MB`;
  return number >= 10_000 ? `${Math.round(number / 1000)} kB` : `${Math.round(number)} B`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function milliseconds({ nodesProcessor }: Cost, nodes: number): string {
  return `${(nodesProcessor / nodes).toFixed(1)} ms`;
}
