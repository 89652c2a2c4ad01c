import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import { EndpointAnswers } from '../../../src/application/traffic/endpoint-answers.js';
import { TrafficCount } from '../../../src/application/traffic/traffic-count.js';
import { TrafficWatchers } from '../../../src/application/traffic/traffic-watchers.js';
import type { SeenFlow } from '../../../src/domain/conntrack/flow.js';
import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { entryOf, FIRST, SECOND, seenFlow } from '../../support/traffic/flows.js';
import { MemoryFlowEvents } from '../../support/traffic/memory-flow-events.js';

const TCP = entryOf();
const UDP = entryOf({ ports: [{ name: '', protocol: 'UDP', port: 80, nodePort: 0 }] });
const port = familyPortKey(TCP);

let clock: FakeClock;
let events: MemoryFlowEvents;
let watchers: TrafficWatchers;
let answers: EndpointAnswers;

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  events = new MemoryFlowEvents();
  const sources = { entries: () => [TCP, UDP], localAddresses: () => [] };
  const logger = new MemoryLogger();
  watchers = new TrafficWatchers(() => new TrafficCount(events, sources, clock, logger), clock);
  answers = new EndpointAnswers(watchers, clock);
});
afterEach(() => watchers.stop());

/** So many connections that wait for an answer. */
function track(count: number, parts: Partial<SeenFlow> = {}): void {
  for (let more = 0; more < count; more++) events.begin(seenFlow(events.tracked.size, parts));
}

/** Reads, and returns for how long. */
async function read(): Promise<number> {
  const began = clock.steady();
  let took: number | undefined;
  const done = answers.read().then(() => (took = clock.steady() - began));
  for (let waited = 0; took === undefined && waited < 10_000; waited += 50) await clock.advanceAsync(50);
  await done;
  return took!;
}

it('finds endpoints that do not answer by connections from before, and counts no longer than somebody wants to know', async () => {
  track(5);
  track(3, { replySource: SECOND, replied: true });
  await clock.advanceAsync(60_000);
  expect([events.isOpen, answers.unresponsive().size, answers.unanswered(port)]).toEqual([
    false,
    0,
    undefined,
  ]);
  expect(await read()).toBeLessThanOrEqual(1_200);
  expect(answers.unresponsive()).toEqual(new Map([[port, new Map([[FIRST, 5]])]]));
  expect(answers.unanswered(port)).toEqual(
    new Map([
      [FIRST, 5],
      [SECOND, 0],
    ]),
  );
  expect(answers.problem).toBeUndefined();
  // It is known at once while the counting goes on.
  expect(await read()).toBe(0);
  await clock.advanceAsync(10_100);
  expect([events.isOpen, answers.unanswered(port)]).toEqual([false, undefined]);
});

it('does not wait where nothing can turn out to be unresponsive', async () => {
  track(2);
  track(50, { replySource: SECOND, replied: true });
  expect(await read()).toBeLessThanOrEqual(100);
  expect(answers.unresponsive().size).toBe(0);
});

it('does not wait for connections that begin meanwhile', async () => {
  await read();
  const reading = answers.read();
  track(20);
  await expect(reading).resolves.toBeUndefined();
});

it('waits for a second where there are very many connections; a later request knows more', async () => {
  track(50_000);
  events.foundAtOnce = 1_000;
  expect(await read()).toBe(1_000);
  expect(answers.unresponsive().size).toBe(0);
  await clock.advanceAsync(3_000);
  expect(await read()).toBeLessThanOrEqual(1_100);
  expect(answers.unresponsive().size).toBe(1);
});

it('remembers for some minutes what was found, until it answers', async () => {
  track(3);
  await read();
  const found = answers.unresponsive();
  await clock.advanceAsync(200_000);
  expect(events.isOpen).toBe(false);
  expect(answers.unresponsive()).toBe(found);
  // Another start of the counting does not forget it meanwhile.
  const reading = answers.read();
  await clock.advanceAsync(100);
  expect(answers.unresponsive()).toEqual(found);
  await clock.advanceAsync(1_500);
  await reading;
  expect(answers.unresponsive()).toEqual(found);
  for (const flow of events.tracked.values()) events.change({ ...flow, replied: true });
  expect(answers.unresponsive().size).toBe(0);
  track(3);
  await read();
  expect(answers.unresponsive().size).toBe(1);
  await clock.advanceAsync(311_000);
  expect(answers.unresponsive().size).toBe(0);
});

it('says nothing about UDP, which has no answer of its own', async () => {
  track(5, { protocol: 'UDP' });
  await read();
  expect(answers.unresponsive().size).toBe(0);
  expect(answers.unanswered(familyPortKey(UDP))).toEqual(new Map([[FIRST, 5]]));
});

it('is no error where connections cannot be counted', async () => {
  events.unavailable = new ConntrackUnavailableError('no permission');
  expect(await read()).toBe(0);
  expect(answers.problem).toBe('connection tracking is unavailable: no permission');
  expect([answers.unresponsive().size, answers.unanswered(port)]).toEqual([0, undefined]);
  events.unavailable = undefined;
  events.tracksServices = false;
  await read();
  expect(answers.problem).toContain('net.ipv4.vs.conntrack');
  events.tracksServices = true;
  expect(answers.problem).toBeUndefined();
});
