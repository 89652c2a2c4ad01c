import fc from 'fast-check';
import { inSample } from '../../../src/domain/traffic/sample.js';
import type { SeenFlow } from '../../../src/domain/conntrack/flow.js';
import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { TrafficTable } from '../../../src/domain/traffic/traffic-table.js';
import { entryOf, FIRST, SECOND, seenFlow } from '../../support/traffic/flows.js';

const entry = entryOf();
const port = familyPortKey(entry);

type Event = (table: TrafficTable) => void;

/**
 * A kernel whose table and events are read at any time: it shows a walk parts of its table as they were when the part was
 * filled, and holds events until they are folded.
 */
class Kernel {
  readonly table = new TrafficTable(() => entry);
  private readonly flows = new Map<number, SeenFlow>();
  private events: Event[] = [];
  private parts: SeenFlow[][] = [];
  private cursor: number | undefined;
  private lastId = 0;
  begun = 0;
  failed = 0;

  /** @param isTold of each event, whether it reaches the table */
  constructor(private readonly isTold: () => boolean = () => true) {}

  begin(endpoint: string): void {
    const flow = seenFlow(++this.lastId, { replySource: endpoint });
    this.flows.set(flow.id, flow);
    this.begun++;
    this.tell((table) => table.began(flow, 0));
  }

  answer(choice: number): void {
    this.update(choice, { replied: true });
  }

  /** Both ends close it, so there was an answer. */
  closeFlow(choice: number): void {
    if (this.chosen(choice)?.replied) this.update(choice, { closed: true });
  }

  end(choice: number): void {
    const flow = this.chosen(choice);
    if (!flow) return;
    this.flows.delete(flow.id);
    if (!flow.replied) this.failed++;
    this.tell((table) => table.ceased(flow, 0));
  }

  fold(count: number): void {
    for (const event of this.events.splice(0, count)) event(this.table);
  }

  walkBegins(): void {
    if (this.cursor !== undefined) return;
    this.cursor = 0;
    this.table.walkBegins();
  }

  fill(count: number): void {
    if (this.cursor === undefined) return;
    const next = [...this.flows.values()].filter(({ id }) => id > this.cursor!).slice(0, count);
    this.cursor = next.at(-1)?.id ?? this.cursor;
    this.parts.push(next);
  }

  show(): void {
    for (const flow of this.parts.shift() ?? []) this.table.found(flow, 0);
  }

  walkEnds(): void {
    if (this.cursor === undefined) return;
    this.fill(Infinity);
    while (this.parts.length > 0) this.show();
    this.fold(Infinity);
    this.table.walkEnds();
    this.cursor = undefined;
  }

  /** Open connections by endpoint. */
  get open(): Record<string, number> {
    const open: Record<string, number> = {};
    for (const { replySource, closed } of this.flows.values())
      if (!closed) open[replySource] = (open[replySource] ?? 0) + 1;
    return open;
  }

  private update(choice: number, change: Partial<SeenFlow>): void {
    const flow = this.chosen(choice);
    if (!flow || flow.closed) return;
    const changed = { ...flow, ...change };
    this.flows.set(flow.id, changed);
    this.tell((table) => table.changed(changed, 0));
  }

  private chosen(choice: number): SeenFlow | undefined {
    return [...this.flows.values()][choice % Math.max(1, this.flows.size)];
  }

  private tell(event: Event): void {
    if (this.isTold()) this.events.push(event);
  }
}

const step = fc.oneof<fc.Arbitrary<(kernel: Kernel) => void>[]>(
  fc.constantFrom(FIRST, SECOND).map((endpoint) => (kernel) => kernel.begin(endpoint)),
  fc.nat(9).map((choice) => (kernel) => kernel.answer(choice)),
  fc.nat(9).map((choice) => (kernel) => kernel.closeFlow(choice)),
  fc.nat(9).map((choice) => (kernel) => kernel.end(choice)),
  fc.integer({ min: 1, max: 4 }).map((count) => (kernel) => kernel.fold(count)),
  fc.constant((kernel: Kernel) => kernel.walkBegins()),
  fc.integer({ min: 1, max: 3 }).map((count) => (kernel) => kernel.fill(count)),
  fc.constant((kernel: Kernel) => kernel.show()),
  fc.constant((kernel: Kernel) => kernel.walkEnds()),
);
const steps = fc.array(step, { maxLength: 60 });

function openIn(table: TrafficTable): Record<string, number> {
  const endpoints = [...(table.ports().get(port)?.endpoints ?? [])];
  return Object.fromEntries(
    endpoints.filter(([, { open }]) => open !== 0).map(([text, { open }]) => [text, open]),
  );
}

function totalsIn(table: TrafficTable): { readonly connections: number; readonly failed: number } {
  const { connections = 0, failed = 0 } = table.ports().get(port)?.totals ?? {};
  return { connections, failed };
}

it('a whole walk and all events make the truth, however they interleave', () => {
  fc.assert(
    fc.property(steps, steps, (first, second) => {
      const kernel = new Kernel();
      for (const act of [...first, (k: Kernel) => k.walkBegins(), ...second]) {
        act(kernel);
        for (const { open, known, overdue } of kernel.table.ports().get(port)?.endpoints.values() ?? [])
          expect(Math.min(open, known - open, overdue)).toBeGreaterThanOrEqual(0);
      }
      kernel.walkEnds();
      kernel.fold(Infinity);
      expect(openIn(kernel.table)).toEqual(kernel.open);
      expect(totalsIn(kernel.table)).toEqual({ connections: kernel.begun, failed: kernel.failed });
    }),
    { numRuns: 500 },
  );
});

it('open connections are the truth after another walk when some events never come', () => {
  fc.assert(
    fc.property(steps, fc.infiniteStream(fc.boolean()), (acts, told) => {
      const kernel = new Kernel(() => told.next().value as boolean);
      for (const act of acts) act(kernel);
      kernel.walkEnds();
      kernel.fold(Infinity);
      kernel.walkBegins();
      kernel.walkEnds();
      expect(openIn(kernel.table)).toEqual(kernel.open);
    }),
    { numRuns: 500 },
  );
});

it('a smaller sample keeps what belongs to it, and forgets the rest without calling it failed', () => {
  const table = new TrafficTable(() => entry);
  const flows = Array.from({ length: 400 }, (_, id) => seenFlow(id));
  for (const flow of flows) table.began(flow, 0);
  table.sample(2);
  const kept = flows.filter(({ hash }) => inSample(hash, 2)).length;
  expect(table.size).toBe(kept);
  expect(openIn(table)).toEqual({ [FIRST]: kept });
  expect(totalsIn(table)).toEqual({ connections: 400, failed: 0 });
  table.began(seenFlow(400), 0);
  expect(totalsIn(table).connections).toBe(404);
});

describe('bytes', () => {
  const bytesOf = (table: TrafficTable): number | undefined => table.ports().get(port)?.totals.bytes;

  it('of a connection that began while counted are all counted, once', () => {
    const table = new TrafficTable(() => entry);
    table.began(seenFlow(1), 0);
    table.walkBegins();
    table.found(seenFlow(1, { bytes: 700 }), 0);
    table.found(seenFlow(1, { bytes: 700 }), 0);
    table.ceased(seenFlow(1, { bytes: 1_000 }), 0);
    expect(bytesOf(table)).toBe(1_000);
  });

  it('of an older connection are counted from when they were first seen', () => {
    const table = new TrafficTable(() => entry);
    table.changed(seenFlow(1), 0);
    table.found(seenFlow(1, { bytes: 5_000 }), 0);
    table.found(seenFlow(1, { bytes: 5_300 }), 0);
    expect(bytesOf(table)).toBe(300);
  });
});

it('forgets service ports and endpoints that are gone, once their connections are', () => {
  const table = new TrafficTable(() => entry);
  table.began(seenFlow(1), 0);
  let asked = 0;
  const tidy = (): void => table.tidy(0, () => void asked++);
  tidy();
  expect([table.ports().size, asked]).toEqual([1, 0]);
  table.ceased(seenFlow(1), 0);
  tidy();
  expect([table.ports().size, asked]).toEqual([0, 1]);
});

it('forgets endpoints that a service port may not use any more, and keeps the others', () => {
  const table = new TrafficTable(() => entry);
  const flows = [FIRST, SECOND].map((replySource, id) => seenFlow(id, { replySource }));
  for (const flow of flows) table.began(flow, 0);
  for (const flow of flows) table.ceased(flow, 0);
  const [gone, kept] = [...table.ports().get(port)!.endpoints.keys()];
  table.tidy(0, () => new Set([kept!]));
  expect([...table.ports().get(port)!.endpoints.keys()]).toEqual([kept]);
  expect(gone).not.toBe(kept);
});

it('keeps a service port that is gone as long as it has a connection, and one that is not gone for good', () => {
  const table = new TrafficTable(() => entry);
  const flows = [FIRST, SECOND].map((replySource, id) => seenFlow(id, { replySource }));
  for (const flow of flows) table.began(flow, 0);
  table.ceased(flows[0]!, 0);
  table.tidy(0, () => undefined);
  expect(openIn(table)).toEqual({ [SECOND]: 1 });
  table.ceased(flows[1]!, 0);
  table.tidy(0, () => new Set());
  expect(totalsIn(table).connections).toBe(2);
});

it('forgets endpoints that are gone when a smaller sample leaves out their connections', () => {
  const table = new TrafficTable(() => entry);
  const hash = [1, 0x7fff_ffff, 0xdead_beef, 0xffff_ffff].find((one) => !inSample(one, 4))!;
  table.began({ ...seenFlow(1), hash }, 0);
  table.sample(4);
  expect(openIn(table)).toEqual({});
  table.tidy(0, () => undefined);
  expect(table.ports().size).toBe(0);
});
