import { readFileSync, writeFileSync } from 'node:fs';

const SAMPLE_EVERY_MS = 20;

/**
 * Watches the memory of a process and its descendants. The result is an upper bound, and a close one: the largest sum, over
 * all samples, of the peaks of the processes alive at that moment since the sample before (VmHWM of proc(5)).
 */
export class MemoryWatch {
  #peakBytes = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    family(pid).forEach(forgetPeak);
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

/** The process and its descendants. */
export function family(pid: number): number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

/** The largest resident size since this was last asked. */
function peakOf(pid: number): number {
  const peak = 1024 * Number(/^VmHWM:\s*(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  forgetPeak(pid);
  return peak;
}

/** The value for clear_refs that resets VmHWM (proc(5)). */
const PEAK = '5';

function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, PEAK);
  } catch {
    // It has ended, or this kernel cannot: then the peak is that since its start.
  }
}

/** Empty if the process has exited meanwhile. */
export function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
