import { readdirSync, readFileSync } from 'node:fs';
import type { MetricSet } from './metric-set.js';
import { metricsWith, type MetricTable } from './metric-spec.js';

const { gauge } = metricsWith({});

/** Metrics of Go programs that dashboards use and that have a true equivalent here; the library adds the others. */
export const RUNTIME_METRICS = {
  goroutines: gauge(
    'go_goroutines',
    'Active resources: sockets, timers, requests and processes that the event loop waits for',
  ),
  threads: gauge('go_threads', 'Threads of the process'),
  allocated: gauge('go_memstats_alloc_bytes', 'Heap bytes in use'),
  heapAllocated: gauge('go_memstats_heap_alloc_bytes', 'Heap bytes in use'),
  heapSystem: gauge('go_memstats_heap_sys_bytes', 'Heap bytes obtained from the system'),
  virtualMaximum: gauge(
    'process_virtual_memory_max_bytes',
    'Maximum virtual memory of the process, in bytes',
  ),
} satisfies MetricTable;

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
