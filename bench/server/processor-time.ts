import { readdirSync, readFileSync } from 'node:fs';
import { family, read } from '../memory.js';

const MILLISECONDS_PER_TICK = 10;

/** Processor time of all threads of a process since its start, in milliseconds (schedstat of proc(5)). */
export function processorTime(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
}

/** The same of a process and its descendants, those that have ended included, to 10 ms (stat of proc(5)). */
export function processorTimeOfFamily(pid: number): number {
  const ticks = family(pid).flatMap((each) => {
    const stat = read(`/proc/${each}/stat`);
    // The name, in parentheses, may have spaces; utime, stime, cutime and cstime are fields 14 to 17.
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * MILLISECONDS_PER_TICK;
}
