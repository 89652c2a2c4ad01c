import type { Host } from '../../support/testbed/host.js';

/** What a process holds at one moment. */
export interface ProcessFigures {
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly openFiles: number;
  /** What keeps its event loop busy, by kind: timers, sockets, child processes. */
  readonly active: Readonly<Record<string, number>>;
}

/** Reads the figures from the process's own metrics. */
export async function processFigures(host: Host, url: string): Promise<ProcessFigures> {
  const { body } = await host.get(url);
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

/**
 * Figures of one life of a process, taken again and again. The smallest heap of a stretch of time is near to what really
 * lives in it: the heap just after a collection.
 */
export class FigureSeries {
  private readonly samples: ProcessFigures[] = [];

  add(figures: ProcessFigures): void {
    this.samples.push(figures);
  }

  get length(): number {
    return this.samples.length;
  }

  get last(): ProcessFigures {
    return this.samples.at(-1)!;
  }

  /** The smallest of a figure in the second third of the time, and in the last. */
  growth(figure: (figures: ProcessFigures) => number): { readonly before: number; readonly after: number } {
    const third = Math.floor(this.samples.length / 3);
    const smallest = (samples: readonly ProcessFigures[]): number => Math.min(...samples.map(figure));
    return {
      before: smallest(this.samples.slice(third, 2 * third)),
      after: smallest(this.samples.slice(2 * third)),
    };
  }
}
