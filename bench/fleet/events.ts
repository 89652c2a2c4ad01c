import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet, type Cost, type FleetSize } from './fleet.js';

/** Single changes that are measured. */
export const CHANGES = 50;
/** How long the server is gone. Milliseconds. */
const OUTAGE = 2_000;
/** A limited server runs a list at once for so many nodes, and each takes this time. Milliseconds. */
const NODES_FOR_A_SEAT = 20;
const HOLD = 50;
/** Younger watches that end count as failures. Milliseconds. */
const WATCHES_LAST = 1_100;

/**
 * Lets happen to a fleet what happens to clusters, one event after another.
 *
 * @param program path of `server.ts`, built
 */
export async function fleetEvents(program: string, size: FleetSize): Promise<readonly Cost[]> {
  const fleet = await Fleet.start(program, size);
  const { server } = fleet;
  const seats = Math.ceil(size.nodes / NODES_FOR_A_SEAT);
  const costs: Cost[] = [];
  const measure = async (event: string, happen: () => Promise<void>): Promise<void> => {
    costs.push(await fleet.measure(event, happen));
    await sleep(WATCHES_LAST);
  };
  const start = async (streamLists: boolean): Promise<void> => {
    await fleet.startNodes(streamLists);
    await fleet.current();
  };
  const outage = async (): Promise<void> => {
    await server.ask('close');
    await fleet.cutOff();
    await sleep(OUTAGE);
  };
  const comeBack = async (): Promise<void> => {
    await server.ask('open');
    await fleet.current();
  };
  try {
    await measure('all nodes start, lists in pages', () => start(false));
    await fleet.stopNodes();
    await measure('all nodes start, streamed lists', () => start(true));
    await measure(`${CHANGES} endpoints replaced, one after another`, () => replaceEndpoints(fleet));
    await measure('the server ends all watches, another answers', async () => {
      await server.ask('endWatches');
      await fleet.renewal();
    });
    await outage();
    await measure(`the server is back after ${OUTAGE / 1000} s`, comeBack);
    await outage();
    await server.ask('forget');
    await measure('the same, without its history', comeBack);
    await fleet.stopNodes();
    await server.ask('limit', seats, HOLD);
    await measure(`all nodes start, 429 beyond ${seats} lists of ${HOLD} ms`, () => start(true));
    await outage();
    await server.ask('forget');
    await measure('back without its history, 429 as above', comeBack);
  } finally {
    await fleet.stop();
  }
  return costs;
}

async function replaceEndpoints(fleet: Fleet): Promise<void> {
  const { nodes, services } = fleet.size;
  for (let generation = 1; generation <= CHANGES; generation++) {
    const expected = fleet.delivered + nodes;
    await fleet.server.ask('change', generation % services, generation);
    await fleet.delivery(expected);
  }
}
