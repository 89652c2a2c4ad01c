import { readFileSync } from 'node:fs';

const SAMPLE_EVERY_MS = 20;

/**
 * Watches the memory of a process and its descendants. The result is an upper bound: the largest sum, over all samples,
 * of the peak resident sizes (VmHWM of proc(5)) of the processes alive at that moment.
 */
export class MemoryWatch {
  #peakBytes = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#timer = setInterval(() => this.#sample(pid), SAMPLE_EVERY_MS);
  }

  #sample(pid: number): void {
    const total = family(pid).reduce((sum, each) => sum + peakOf(each), 0);
    this.#peakBytes = Math.max(this.#peakBytes, total);
  }

  /** Ends the watch and returns the peak in bytes. */
  end(): number {
    clearInterval(this.#timer);
    return this.#peakBytes;
  }
}

function family(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

function peakOf(pid: number): number {
  return 1024 * Number(/^VmHWM:\s*(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Empty when the process has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
