import { readdirSync, readFileSync } from 'node:fs';

/** Processor time of all threads of a process since its start, in milliseconds (schedstat of proc(5)). */
export function processorTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
}
