import { readdirSync, readFileSync } from 'node:fs';
import type { MetricSet } from './metric-set.js';
import type { RUNTIME_METRICS } from './runtime-metric-table.js';

/** `ulimit -v unlimited` in bytes. */
const UNLIMITED = 2 ** 64;

/** Sets the metrics of the runtime. */
export function readRuntime(runtime: MetricSet<typeof RUNTIME_METRICS>): void {
  const { heapUsed, heapTotal } = process.memoryUsage();
  runtime.set('goroutines', {}, process.getActiveResourcesInfo().length);
  runtime.set('allocated', {}, heapUsed);
  runtime.set('heapAllocated', {}, heapUsed);
  runtime.set('heapSystem', {}, heapTotal);
  runtime.set('threads', {}, readdirSync('/proc/self/task').length);
  const [, limit] = /^Max address space +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  runtime.set('virtualMaximum', {}, limit === 'unlimited' ? UNLIMITED : Number(limit));
}
