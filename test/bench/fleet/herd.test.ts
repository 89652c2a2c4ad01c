import { readFileSync } from 'node:fs';
import { ClientGoRetries, OwnRetries } from '../../../bench/fleet/herd/client-retries.js';
import { simulate, type Herd } from '../../../bench/fleet/herd/herd.js';
import { herdTable } from '../../../bench/fleet/herd/report.js';
import { seededRandom } from '../../../bench/fleet/herd/seeded-random.js';

const lists = [100, 200];
const server = { nodes: 2500, lists, seats: 8, queue: 300 };
const takenOver: Herd = { ...server, event: 'cut off', outage: 0, history: true };
const outage: Herd = { ...server, event: 'cut off', outage: 10_000, history: false };
const started: Herd = { ...server, event: 'start', outage: 0, history: false };
/** What the lists take when no seat is ever empty. Milliseconds. */
const WORK = (server.nodes * (100 + 200)) / server.seats;

const own = (herd: Herd) => simulate(herd, (random) => new OwnRetries(random), seededRandom(1));
const clientGo = (herd: Herd) => simulate(herd, (random) => new ClientGoRetries(random), seededRandom(1));

it('sends one request for each watch that goes on, spread evenly over the first back-off', () => {
  const { requests, busiest, all } = own(takenOver);
  expect(requests).toBe(2 * server.nodes);
  expect(all).toBeLessThanOrEqual(1600);
  expect(busiest).toBeLessThan(1.5 * (requests / 16));
  expect(clientGo(takenOver).busiest).toBe(2 * server.nodes);
});

it.each([
  ['an outage', outage],
  ['a start', started],
])(
  'after %s it is served in at most twice the time that the lists take, with fewer requests than client-go',
  (_, herd) => {
    const cost = own(herd);
    expect(cost.all).toBeGreaterThanOrEqual(WORK);
    expect(cost.all).toBeLessThan(2 * WORK);
    const other = clientGo(herd);
    expect(cost.requests).toBeLessThan(other.requests);
    expect(cost.all).toBeLessThan(other.all);
  },
);

it('counts what was refused among the requests', () => {
  const { requests, refused } = own(started);
  expect(requests).toBe(2 * server.nodes + refused);
});

it('comes to the same every time', () => {
  const small = { ...outage, nodes: 500 };
  expect(own(small)).toEqual(own(small));
});

/** The largest one of the documentation takes as long as all others together. */
const CLUSTERS = [500, 5_000];

it('is printed with all events and clients, as the documentation shows it', () => {
  const page = readFileSync(new URL('../../../docs/evidence/scale.md', import.meta.url), 'utf8');
  const documented = page
    .split('\n')
    .filter((line) => / \| (500|5,000) \| (this proxy|client-go) \| /.test(line));
  expect(documented.length).toBeGreaterThan(5);
  const table = herdTable(CLUSTERS).split('\n');
  expect(table).toHaveLength(2 + 5 * CLUSTERS.length * 2);
  for (const line of documented) expect(table).toContain(line);
});
