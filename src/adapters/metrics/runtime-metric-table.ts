import type { MetricTable } from './metric-spec.js';

/** What dashboards made for Go programs ask for and this program can answer truthfully; the rest comes with the library. */
export const RUNTIME_METRICS = {
  goroutines: {
    type: 'gauge',
    name: 'go_goroutines',
    help: 'Things under way: sockets, timers, requests and processes that the event loop waits for',
  },
  threads: { type: 'gauge', name: 'go_threads', help: 'Threads of the process' },
  allocated: { type: 'gauge', name: 'go_memstats_alloc_bytes', help: 'Bytes of the heap that are in use' },
  heapAllocated: {
    type: 'gauge',
    name: 'go_memstats_heap_alloc_bytes',
    help: 'Bytes of the heap that are in use',
  },
  heapSystem: {
    type: 'gauge',
    name: 'go_memstats_heap_sys_bytes',
    help: 'Bytes of the heap as the system gave them',
  },
  virtualMaximum: {
    type: 'gauge',
    name: 'process_virtual_memory_max_bytes',
    help: 'Most virtual memory that the process may have, in bytes',
  },
} as const satisfies MetricTable;
