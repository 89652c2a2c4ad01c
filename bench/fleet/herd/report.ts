import { ClientGoRetries, OwnRetries } from './client-retries.js';
import { simulate, type Herd } from './herd.js';
import { seededRandom } from './seeded-random.js';

/** API servers among which the nodes are spread evenly. */
const SERVERS = 3;
const CLUSTERS = [500, 5_000, 15_000];

/**
 * 10,000 Services of 5 endpoints from API server 1.36 in protobuf, uncompressed: the slices were measured, 0.2 s; the Services
 * are assumed to cost half of it. Eight such lists run at once: about what priority level workload-high has room for.
 */
const SERVER = { lists: [100, 200], seats: 8, queue: 300 };

type Event = readonly [name: string, herd: Pick<Herd, 'event' | 'outage' | 'history'>];

const EVENTS: readonly Event[] = [
  ['watches end, another server answers at once', { event: 'cut off', outage: 0, history: true }],
  ['no server for 10 s, watches go on', { event: 'cut off', outage: 10_000, history: true }],
  ['no server for 10 s, everything is listed', { event: 'cut off', outage: 10_000, history: false }],
  ['no server for 2 min, everything is listed', { event: 'cut off', outage: 120_000, history: false }],
  ['all nodes start', { event: 'start', outage: 0, history: false }],
];

const CLIENTS = [
  ['this proxy', OwnRetries],
  ['client-go', ClientGoRetries],
] as const;

/** What simultaneous events cost one of three API servers, simulated for clusters of several sizes; a table in Markdown. */
export function herdTable(clusters: readonly number[] = CLUSTERS): string {
  const rows = EVENTS.flatMap(([name, herd]) =>
    clusters.flatMap((nodes) =>
      CLIENTS.map(([client, Retries]) => {
        const random = seededRandom(1);
        const nodesOfServer = Math.ceil(nodes / SERVERS);
        const cost = simulate(
          { ...SERVER, ...herd, nodes: nodesOfServer },
          (next) => new Retries(next),
          random,
        );
        const { requests, refused, busiest, half, all } = cost;
        return [
          name,
          ...[nodes, client, requests, refused, busiest].map((cell) => cell.toLocaleString('en')),
          seconds(half),
          seconds(all),
        ];
      }),
    ),
  );
  const titles = [
    'event',
    'nodes',
    'client',
    'requests to each server',
    'of them 429',
    'most requests in 0.1 s',
    'half of the nodes current after',
    'all nodes current after',
  ];
  return [titles, titles.map((_, index) => (index === 0 || index === 2 ? '---' : '--:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
