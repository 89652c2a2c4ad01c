import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANGES, fleetEvents } from '../../../bench/fleet/events.js';
import type { Cost } from '../../../bench/fleet/fleet.js';
import { bars, busiest, fleetTable } from '../../../bench/fleet/report.js';
import { bundle } from '../../support/program/bundle.js';

const size = { nodes: 3, services: 20, endpoints: 2 };
const OBJECTS = size.nodes * (2 * size.services + 2);
const WATCHES = size.nodes * 4;

let folder: string;
let costs: readonly Cost[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  const program = join(folder, 'server.mjs');
  await bundle(new URL('../../../bench/fleet/server.ts', import.meta.url), program);
  costs = await fleetEvents(program, size);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function costOf(event: string): Cost {
  return costs.find((cost) => cost.event.startsWith(event))!;
}

it('every node lists everything when it starts, in one request for each kind or in one more for the watch', () => {
  expect(costOf('all nodes start, streamed lists')).toMatchObject({
    delivered: OBJECTS,
    refused: 0,
    handshakes: { full: WATCHES, resumed: 0 },
  });
  expect(costOf('all nodes start, streamed lists').requests).toHaveLength(WATCHES);
  expect(costOf('all nodes start, lists in pages').requests).toHaveLength(2 * WATCHES);
});

it('a change costs no request, and each node an event', () => {
  const { requests, sent, received, delivered } = costOf(`${CHANGES} endpoints replaced`);
  expect(requests).toEqual([]);
  expect(delivered).toBe(CHANGES * size.nodes);
  expect(received).toBe(0);
  const perEvent = sent / delivered;
  expect(perEvent).toBeGreaterThan(300);
  expect(perEvent).toBeLessThan(1000);
});

/** A node makes its small list a second after its first watch is back: in this event, or when its cost has been told. */
function expectRequests({ requests }: Cost, usual: number): void {
  expect(requests.length).toBeGreaterThanOrEqual(usual);
  expect(requests.length).toBeLessThanOrEqual(usual + size.nodes);
}

it('watches that end are opened again, over a moment, each node with one small list at most', () => {
  for (const event of ['the server ends all watches', 'the server is back']) {
    const cost = costOf(event);
    expect(cost.delivered).toBe(0);
    expectRequests(cost, WATCHES);
  }
});

it('a server without its history is asked for everything, and what did not change is not delivered', () => {
  const cost = costOf('the same, without its history');
  expectRequests(cost, 2 * WATCHES);
  expect(cost.sent).toBeGreaterThan(costOf('all nodes start, streamed lists').sent * 0.7);
  expect(cost.delivered).toBe(0);
});

it('a server that refuses lists is asked again until all nodes have everything', () => {
  const cost = costOf('all nodes start, 429');
  expect(cost.refused).toBeGreaterThan(0);
  expect(cost.requests.length).toBe(WATCHES + cost.refused);
  expect(cost.delivered).toBe(OBJECTS);
});

it('is printed as a table', () => {
  const lines = fleetTable(size, costs).split('\n');
  expect(lines[0]).toBe('3 nodes, 20 services of 2 endpoints');
  expect(lines).toHaveLength(2 + 2 + costs.length);
  expect(fleetTable(size, costs)).not.toMatch(/NaN|undefined/);
});

it('counts requests in parts of time', () => {
  expect(busiest([0, 10, 99, 100, 350], 100)).toBe(3);
  expect(busiest([], 100)).toBe(0);
  expect(bars([0, 1, 2, 3, 600])).toBe('`█ ▂`');
  expect(bars([])).toBe('–');
});
