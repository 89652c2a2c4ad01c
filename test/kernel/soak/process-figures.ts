import type { Host } from '../../support/testbed/host.js';

/** What a process holds at one moment. */
export interface ProcessFigures {
  /** What is left after a collection of garbage. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly openFiles: number;
  /** What keeps its event loop busy, by kind: timers, sockets, child processes. */
  readonly active: Readonly<Record<string, number>>;
}

/** Collecting garbage and counting what is left takes a second beside other work. */
const COLLECTED_WITHIN_MS = 10_000;

/**
 * Has the process collect its garbage, and reads the figures from its own metrics.
 * @param server its metrics server, with profiles
 */
export async function processFigures(host: Host, server: string): Promise<ProcessFigures> {
  const { status } = await host.get(`${server}/debug/pprof/heap?gc=1`, COLLECTED_WITHIN_MS);
  if (status !== 200) throw new Error(`asking ${server} to collect garbage was answered with ${status}`);
  const { body } = await host.get(`${server}/metrics`);
  const value = (name: string): number => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1];
    if (found === undefined) throw new Error(`the proxy has no metric ${name}`);
    return Number(found);
  };
  return {
    heapBytes: value('nodejs_heap_size_used_bytes'),
    residentBytes: value('process_resident_memory_bytes'),
    openFiles: value('process_open_fds'),
    active: Object.fromEntries(
      [...body.matchAll(/^nodejs_active_resources\{type="(\w+)"\} (\d+)$/gm)].map(([, type, count]) => [
        type!,
        Number(count),
      ]),
    ),
  };
}
