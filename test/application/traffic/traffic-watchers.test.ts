import { ConntrackUnavailableError } from '../../../src/application/ports/node/conntrack.js';
import { TrafficCount } from '../../../src/application/traffic/traffic-count.js';
import {
  openConnections,
  TooManyWatchersError,
  TrafficWatchers,
  type TrafficWatch,
} from '../../../src/application/traffic/traffic-watchers.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import {
  trafficBetween,
  type TrafficQuery,
  type TrafficReport,
} from '../../../src/diagnostics/domain/traffic.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryFlowEvents } from '../../support/traffic/memory-flow-events.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { entryOf, FIRST, SECOND, seenFlow } from '../../support/traffic/flows.js';
import type { CountingFacts } from '../../../src/domain/traffic/sample.js';
import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { TrafficTable } from '../../../src/domain/traffic/traffic-table.js';
import { timeText } from '../../../src/domain/model/text.js';

const everything: TrafficQuery = { services: [], sort: 'open', limit: Infinity };

let clock: FakeClock;
let events: MemoryFlowEvents;
let logger: MemoryLogger;
let entries: readonly ForwardingEntry[];
/** Happens once, when services are looked at next. */
let meanwhile: (() => void) | undefined;
let watchers: TrafficWatchers;
let leaving: AbortController;

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  events = new MemoryFlowEvents();
  logger = new MemoryLogger();
  entries = [entryOf()];
  meanwhile = undefined;
  leaving = new AbortController();
  const sources = {
    entries: () => {
      const happens = meanwhile;
      meanwhile = undefined;
      happens?.();
      return entries;
    },
    localAddresses: () => ['192.0.2.11'],
  };
  watchers = new TrafficWatchers(() => new TrafficCount(events, sources, clock, logger), clock);
});
afterEach(async () => {
  await watchers.stop();
  expect(clock.pending).toBe(0);
  expect(events.isOpen).toBe(false);
});

/** The next report of an interval in which this happens. */
async function next(
  watch: TrafficWatch<TrafficQuery, TrafficReport>,
  happens = (): void => {},
  milliseconds = 1_000,
): Promise<TrafficReport> {
  const report = watch.next(everything, milliseconds, leaving.signal);
  happens();
  await clock.advanceAsync(milliseconds);
  return report;
}

async function openIn(report: Promise<TrafficReport>): Promise<readonly number[]> {
  return (await report).services.map(({ openConnections }) => openConnections);
}

it('counts only while somebody watches, and a little longer', async () => {
  events.begin(seenFlow(1));
  await clock.advanceAsync(60_000);
  expect([events.isOpen, events.walks]).toEqual([false, 0]);
  const [first, second] = [watchers.watch(trafficBetween), watchers.watch(trafficBetween)];
  expect(events.isOpen).toBe(true);
  first.leave();
  first.leave();
  await clock.advanceAsync(60_000);
  expect(events.isOpen).toBe(true);
  second.leave();
  await clock.advanceAsync(9_900);
  const back = watchers.watch(trafficBetween);
  await clock.advanceAsync(60_000);
  expect(events.isOpen).toBe(true);
  back.leave();
  await clock.advanceAsync(10_100);
  expect(events.isOpen).toBe(false);
  const { walks } = events;
  await clock.advanceAsync(60_000);
  expect(events.walks).toBe(walks);
});

it('counts without a watcher where that is asked for', async () => {
  watchers.keepCounting('numbers');
  expect(events.isOpen).toBe(true);
  watchers.watch(trafficBetween).leave();
  await clock.advanceAsync(60_000);
  expect(events.isOpen).toBe(true);
});

it('walks seldom while only evidence is asked for, and at once when more is, or events were lost', async () => {
  const release = watchers.keepCounting('evidence');
  await clock.advanceAsync(40_000);
  expect(events.walks).toBe(2);
  events.room = 0;
  events.begin(seenFlow(1));
  await clock.advanceAsync(200);
  expect(events.walks).toBe(3);
  events.room = Infinity;
  await clock.advanceAsync(5_000);
  expect(events.walks).toBe(3);
  const watch = watchers.watch(trafficBetween);
  expect(watchers.counted()!.facts.complete).toBe(false);
  const complete = watch.complete(leaving.signal);
  await clock.advanceAsync(1_000);
  await complete;
  const before = events.walks;
  await clock.advanceAsync(10_000);
  expect(events.walks).toBe(before + 10);
  watch.leave();
  await clock.advanceAsync(62_000);
  expect(events.walks).toBe(before + 12);
  release();
  release();
  await clock.advanceAsync(10_000);
  expect([events.isOpen, watchers.counted()]).toEqual([false, undefined]);
});

it('has no more than eight watchers, who share what is counted', async () => {
  const eight = Array.from({ length: 8 }, () => watchers.watch(trafficBetween));
  expect(() => watchers.watch(trafficBetween)).toThrow(TooManyWatchersError);
  eight[0]!.leave();
  expect(() => watchers.watch(trafficBetween)).not.toThrow();
  await clock.advanceAsync(500);
  expect(events.walks).toBe(1);
});

it('does not watch where connections cannot be heard of, until they can', () => {
  events.unavailable = new ConntrackUnavailableError('no permission');
  expect(() => watchers.watch(trafficBetween)).toThrow(ConntrackUnavailableError);
  events.unavailable = undefined;
  expect(() => watchers.watch(trafficBetween)).not.toThrow();
});

it('reports to each watcher what happened in its own interval', async () => {
  const [one, other] = [watchers.watch(trafficBetween), watchers.watch(trafficBetween)];
  const whole = other.next(everything, 2_000, leaving.signal);
  const first = await next(one, () => events.begin(seenFlow(1)));
  expect(first.services).toMatchObject([{ openConnections: 1, newConnections: 1 }]);
  const second = await next(one, () => events.begin(seenFlow(2)));
  expect(second.services).toMatchObject([{ openConnections: 2, newConnections: 1 }]);
  expect((await whole).services).toMatchObject([
    { openConnections: 2, newConnections: 2, newConnectionsPerSecond: 1 },
  ]);
});

it('is complete after a walk through all connections, which takes pauses', async () => {
  for (let id = 0; id < 5_000; id++) events.begin(seenFlow(id));
  events.foundAtOnce = 100;
  const watch = watchers.watch(trafficBetween);
  let isComplete = false;
  void watch.complete(leaving.signal).then(() => (isComplete = true));
  const early = await next(watch, () => events.change(seenFlow(0)), 100);
  expect(early).toMatchObject({ complete: false, readRatio: 0.4 });
  expect(isComplete).toBe(false);
  events.begin(seenFlow(5_000));
  await clock.advanceAsync(300);
  expect(isComplete).toBe(true);
  events.end(5_000);
  expect(await next(watch)).toMatchObject({
    complete: true,
    readRatio: 1,
    trackedConnections: 5_000,
    services: [{ openConnections: 5_000, newConnections: 0 }],
  });
});

it('walks once in a second, however long a walk takes', async () => {
  for (let id = 0; id < 5_000; id++) events.begin(seenFlow(id));
  events.foundAtOnce = 1_000;
  watchers.watch(trafficBetween);
  await clock.advanceAsync(9_999);
  expect(events.walks).toBe(10);
});

it('reads events often enough that little room is enough for them, and before each report', async () => {
  const watch = watchers.watch(trafficBetween);
  events.room = 10;
  for (let time = 0; time < 20; time++) {
    for (let id = 0; id < 10; id++) events.begin(seenFlow(10 * time + id));
    await clock.advanceAsync(100);
  }
  const report = await next(watch, () => events.begin(seenFlow(1_000)), 50);
  expect(report).toMatchObject({ eventLosses: 0, services: [{ newConnections: 201 }] });
});

it('takes the answer that came just before the end for an answer, though a walk misses both', async () => {
  events.begin(seenFlow(1));
  const watch = watchers.watch(trafficBetween);
  await clock.advanceAsync(990);
  events.change(seenFlow(1, { replied: true }));
  events.end(1);
  expect((await next(watch, undefined, 500)).services).toMatchObject([
    { openConnections: 0, unansweredConnections: 0 },
  ]);
});

it('has read no more than all, also of a table that shrinks meanwhile', async () => {
  for (let id = 0; id < 2_000; id++) events.begin(seenFlow(id));
  events.foundAtOnce = 1_000;
  const watch = watchers.watch(trafficBetween);
  for (let id = 0; id < 1_999; id++) events.end(id);
  expect(await next(watch, undefined, 10)).toMatchObject({ complete: false, readRatio: 1 });
});

it('says that events were lost, and finds what they told by the next walk', async () => {
  const watch = watchers.watch(trafficBetween);
  events.begin(seenFlow(0));
  await clock.advanceAsync(3_000);
  events.room = 2;
  const report = await next(
    watch,
    () => {
      events.end(0, false);
      for (let id = 1; id < 10; id++) events.begin(seenFlow(id));
    },
    100,
  );
  expect(report).toMatchObject({ eventLosses: 1 });
  expect(await openIn(next(watch, undefined, 2_000))).toEqual([9]);
});

it('forgets connections whose end nobody tells', async () => {
  for (let id = 0; id < 3; id++) events.begin(seenFlow(id));
  const watch = watchers.watch(trafficBetween);
  expect(await openIn(next(watch))).toEqual([3]);
  for (let id = 0; id < 3; id++) events.end(id, false);
  expect(await openIn(next(watch, undefined, 2_000))).toEqual([0]);
});

it('walks again five seconds after a walk that failed, and says why', async () => {
  events.faults.push(new Error('listing tracked connections: EBUSY'));
  events.begin(seenFlow(1));
  const watch = watchers.watch(trafficBetween);
  expect(await next(watch)).toMatchObject({ complete: false });
  await clock.advanceAsync(3_900);
  expect(events.walks).toBe(1);
  expect(logger.lines).toMatchObject([
    { level: 'warn', facts: { error: 'listing tracked connections: EBUSY' } },
  ]);
  await clock.advanceAsync(6_000);
  expect(await next(watch)).toMatchObject({ complete: true });
});

it('keeps what it knows while walks fail', async () => {
  const watch = watchers.watch(trafficBetween);
  expect(await openIn(next(watch, () => events.begin(seenFlow(1))))).toEqual([1]);
  events.faults.push(...Array.from({ length: 3 }, () => new Error('EBUSY')));
  events.end(1, false);
  expect(await openIn(next(watch, undefined, 10_000))).toEqual([1]);
  expect(await openIn(next(watch, undefined, 10_000))).toEqual([0]);
});

it('follows the services', async () => {
  const watch = watchers.watch(trafficBetween);
  await next(watch);
  entries = [];
  events.begin(seenFlow(1));
  expect((await next(watch, () => events.end(1), 2_000)).services).toEqual([]);
  entries = [entryOf()];
  await next(watch, undefined, 2_000);
  expect(await openIn(next(watch, () => events.begin(seenFlow(2))))).toEqual([1]);
});

it('goes on while the wall clock is set back', async () => {
  const watch = watchers.watch(trafficBetween);
  await next(watch);
  clock.set(-86_400_000);
  entries = [];
  await next(watch);
  entries = [entryOf()];
  await next(watch);
  const report = await next(watch, () => events.begin(seenFlow(1)), 2_000);
  expect(report).toMatchObject({ time: timeText(clock.now()), durationSeconds: 2 });
  expect(report.services).toMatchObject([
    { newConnections: 1, newConnectionsPerSecond: 0.5, unansweredConnections: 1 },
  ]);
  events.end(1, false);
  expect(await openIn(next(watch, undefined, 2_000))).toEqual([0]);
});

describe('a sample', () => {
  const count = 200_000;

  it('is taken of a large table from the start, and comes near the truth', async () => {
    for (let id = 0; id < count; id++) events.begin(seenFlow(id, { hash: (id * 0x9e3779b1) >>> 0 }));
    const watch = watchers.watch(trafficBetween);
    const report = await next(watch);
    expect(report.samplingRate).toBe(4);
    expect(Math.abs(report.services[0]!.openConnections - count)).toBeLessThan(count / 50);
  });

  it('is taken when events come too fast, and given up after ten quiet seconds', async () => {
    const watch = watchers.watch(trafficBetween);
    await next(watch);
    const storm = (): void => {
      for (let id = 0; id < 20_000; id++) events.begin(seenFlow(id, { hash: (id * 0x9e3779b1) >>> 0 }));
    };
    expect((await next(watch, storm)).services).toMatchObject([{ newConnections: 20_000 }]);
    const sampled = await next(watch);
    expect(sampled.samplingRate).toBe(4);
    expect(Math.abs(sampled.services[0]!.openConnections - 20_000)).toBeLessThan(400);
    for (let id = 10; id < 20_000; id++) events.end(id);
    await clock.advanceAsync(10_000);
    expect(events.shift).toBe(2);
    await clock.advanceAsync(1_000);
    expect(events.shift).toBe(0);
    expect(await next(watch, undefined, 1_500)).toMatchObject({ samplingRate: 1, complete: false });
    expect(await next(watch)).toMatchObject({ complete: true, services: [{ openConnections: 10 }] });
  });

  it('becomes larger step by step, each after ten quiet seconds', async () => {
    const flow = seenFlow(1, { hash: 0, replied: true });
    watchers.watch(trafficBetween);
    const second = async (count: number): Promise<number> => {
      for (let told = 0; told < count; told++) events.change(flow);
      await clock.advanceAsync(1_000);
      return 2 ** events.shift;
    };
    expect(await second(5_000)).toBe(1);
    expect(await second(20_001)).toBe(8);
    // Of 4,800 events in a second, a sample of one in eight hears 600.
    for (let quiet = 1; quiet < 10; quiet++) expect(await second(600)).toBe(8);
    expect(await second(600)).toBe(4);
    for (let quiet = 1; quiet < 10; quiet++) expect(await second(0)).toBe(4);
    expect(await second(0)).toBe(1);
  });

  it('stays as small as it is while events come as fast', async () => {
    // Of 19,000 events in a second, a sample of one in four hears 4,750.
    const flow = seenFlow(1, { hash: 0, replied: true });
    const storm = (count: number): void => {
      for (let told = 0; told < count; told++) events.change(flow);
    };
    const watch = watchers.watch(trafficBetween);
    await next(watch, () => storm(19_000));
    for (let second = 0; second < 12; second++)
      expect(await next(watch, () => storm(4_750))).toMatchObject({ samplingRate: 4 });
  });

  it('is not taken of what gathered while the process was held up', async () => {
    const watch = watchers.watch(trafficBetween);
    meanwhile = () => {
      for (let id = 0; id < 20_000; id++) events.begin(seenFlow(id));
      clock.advance(9_000);
    };
    expect(await next(watch, undefined, 12_000)).toMatchObject({
      samplingRate: 1,
      services: [{ newConnections: 20_000 }],
    });
  });
});

it('ends with the reason of the signal', async () => {
  events.faults.push(new Error('EBUSY'));
  const watch = watchers.watch(trafficBetween);
  const waiting = [watch.next(everything, 1_000, leaving.signal), watch.complete(leaving.signal)];
  leaving.abort(new Error('gone'));
  for (const each of waiting) await expect(each).rejects.toThrow('gone');
  watch.leave();
  await watchers.stop();
  expect(() => watchers.watch(trafficBetween)).toThrow('stopping');
  watchers.keepCounting('evidence')();
  expect(watchers.counted()).toBeUndefined();
});

it('open connections of an endpoint are those of the sample, and of the connections that it stands for', () => {
  const entry = entryOf();
  const table = new TrafficTable(() => entry);
  for (const id of [1, 2]) table.began(seenFlow(id), 0);
  const open = (samplingRate: number) =>
    openConnections({ ports: table.ports(), facts: { samplingRate } as CountingFacts }, familyPortKey(entry));
  expect([open(1)(FIRST), open(8)(FIRST), open(8)(SECOND)]).toEqual([2, 16, 0]);
});
