/** In place of `perf_hooks`: nothing of a simulated process is measured. */
export { performance } from './globals.js';

export class PerformanceObserver {
  observe(): void {
    // Nothing is collected.
  }

  disconnect(): void {
    // Nothing was.
  }
}

export const monitorEventLoopDelay = () => ({
  enable: () => true,
  disable: () => true,
  reset: () => undefined,
  percentile: () => 0,
  min: 0,
  max: 0,
  mean: 0,
  stddev: 0,
});

export const constants = {
  NODE_PERFORMANCE_GC_MAJOR: 4,
  NODE_PERFORMANCE_GC_MINOR: 1,
  NODE_PERFORMANCE_GC_INCREMENTAL: 8,
  NODE_PERFORMANCE_GC_WEAKCB: 16,
};
