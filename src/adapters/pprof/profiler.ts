import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuProfile } from './cpu-profile.js';
import { collectGarbage } from '../process/own-process.js';
import { heapProfile } from './heap-profile.js';
import { NamedError } from '../../domain/model/named-error.js';

/** As in Go: a hundred times per second, and every 512 KiB. */
const CPU_INTERVAL_MICROSECONDS = 10_000;
const HEAP_INTERVAL_BYTES = 512 * 1024;

/** Another CPU profile is being taken. */
export class ProfilerBusyError extends NamedError {
  constructor() {
    super('Could not enable CPU profiling: cpu profiling already in use');
  }
}

/**
 * Takes profiles of this process in pprof's format, uncompressed. Allocations are sampled from `start` on, which costs almost
 * nothing; the CPU is sampled only while a CPU profile is taken.
 */
export class Profiler {
  private readonly session = new Session();
  private started = 0;
  private busy = false;

  /** Heap profiles do not contain earlier allocations. */
  async start(): Promise<void> {
    this.session.connect();
    this.started = Date.now();
    await this.session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
  }

  /** Idempotent. */
  stop(): void {
    this.session.disconnect();
  }

  /** A CPU profile of this many seconds. Rejects with ProfilerBusyError; ends early when the signal is aborted. */
  async cpu(seconds: number, signal: AbortSignal): Promise<Uint8Array> {
    if (this.busy) throw new ProfilerBusyError();
    this.busy = true;
    try {
      const started = Date.now();
      await this.session.post('Profiler.enable');
      await this.session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_MICROSECONDS });
      await this.session.post('Profiler.start');
      await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
      const { profile } = await this.session.post('Profiler.stop');
      return cpuProfile(profile, CPU_INTERVAL_MICROSECONDS, started);
    } finally {
      this.busy = false;
    }
  }

  /**
   * A profile of live objects on the heap, by allocation site.
   * @param collectFirst collect garbage first
   */
  async heap(collectFirst: boolean): Promise<Uint8Array> {
    if (collectFirst) await collectGarbage();
    const { profile } = await this.session.post('HeapProfiler.getSamplingProfile');
    return heapProfile(profile, HEAP_INTERVAL_BYTES, this.started);
  }
}
