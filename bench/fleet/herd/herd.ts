import type { ClientRetries } from './client-retries.js';
import { ListQueue, type Capacity } from './list-queue.js';

/** What happens to the nodes of one API server. */
export interface Herd extends Capacity {
  readonly nodes: number;
  /** `start`: all nodes start. `cut off`: their watches end, and a server answers after `outage`. */
  readonly event: 'start' | 'cut off';
  /** Milliseconds. */
  readonly outage: number;
  /** Whether that server knows what happened since: then a watch goes on, otherwise it is too old. */
  readonly history: boolean;
  /** The large lists of a node, by the processor time that each costs the server, in milliseconds. */
  readonly lists: readonly number[];
}

export interface HerdCost {
  /** That reached the server. */
  readonly requests: number;
  /** Of those, with 429. */
  readonly refused: number;
  /** Requests in the busiest tenth of a second. */
  readonly busiest: number;
  /** Until half of the nodes, and until all, have everything, counted from when a server answers. Milliseconds. */
  readonly half: number;
  readonly all: number;
}

/** An hour, in milliseconds. */
const END = 3_600_000;

/** Simulates every request of every node, to the millisecond, with virtual time. */
export function simulate(
  { nodes, event, outage, history, lists, ...capacity }: Herd,
  retriesOf: (random: () => number) => ClientRetries,
  random: () => number,
): HerdCost {
  const queue = new ListQueue(capacity);
  const agenda: (() => void)[][] = [];
  let now = 0;
  let refused = 0;
  const perTenth: number[] = [];
  const finished: number[] = [];
  const after = (wait: number, act: () => void): void => void (agenda[now + wait] ??= []).push(act);
  const arrive = (): void => {
    const tenth = Math.floor((now - outage) / 100);
    perTenth[tenth] = (perTenth[tenth] ?? 0) + 1;
  };

  const connect = (retries: ClientRetries, done: () => void, work: number): void => {
    const list = (): void => {
      arrive();
      const end = queue.admit(now, work);
      if (end === undefined) {
        refused++;
        return after(retries.refused(now, queue.refuse(now)), list);
      }
      after(end - now, done);
    };
    const watch = (): void => {
      if (now < outage) return after(retries.down(now), watch);
      arrive();
      if (history) done();
      else after(retries.expired(now), list);
    };
    if (event === 'start') list();
    else after(retries.cutOff(now), watch);
  };

  for (let node = 0; node < nodes; node++) {
    let missing = lists.length;
    for (const work of lists) {
      const retries = retriesOf(random);
      const done = (): void => {
        retries.succeeded();
        if (--missing === 0) finished.push(now - outage);
      };
      connect(retries, done, Math.round(work));
    }
  }
  for (; now < END && finished.length < nodes; now++) {
    for (const act of agenda[now] ?? []) act();
    delete agenda[now];
  }
  if (finished.length < nodes)
    throw new Error(`after an hour only ${finished.length} of ${nodes} nodes are current`);
  return {
    requests: perTenth.reduce((sum, count) => sum + (count ?? 0), 0),
    refused,
    busiest: perTenth.reduce((most, count) => Math.max(most, count ?? 0), 0),
    half: finished[Math.floor(nodes / 2)]!,
    all: finished.at(-1)!,
  };
}
