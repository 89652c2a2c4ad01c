import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/*
 * A node's memory is for its pods. Left to itself V8 lets the heap grow to several times of what is alive before it collects
 * garbage, and keeps 32 MB for new objects. It reads these settings each time it sizes the heap. With 10,000 services they
 * save tens of megabytes at the first sync, and cost no time that could be measured.
 */
setFlagsFromString('--heap-growing-percent=50');
setFlagsFromString('--semi-space-growth-factor=1');

/*
 * A node's processors are, too, and while iptables-restore runs, one of two is taken. V8 has helpers collect new objects: half
 * a millisecond's work, for which the program waited five, and up to seventeen, until the helpers had their turn. And it
 * compiles what runs often together with all that is called there, which took longer than it saved. Without either the first
 * sync of 10,000 services in mode iptables takes a tenth less processor time, and in mode nftables the slowest hundredth of
 * changes takes 1.7 ms instead of 3.
 */
setFlagsFromString('--no-parallel-scavenge');
setFlagsFromString('--max-inlined-bytecode-size-cumulative=60');

/*
 * What its helpers still do, to mark garbage and to optimise code, is in no hurry, but they are as many as two processors
 * can run twice over. Linux gave them the processor of iptables-restore, which holds the lock meanwhile, four milliseconds at
 * a time, although another one was free. Below everything else that belongs to this program they cost the first sync of
 * 10,000 services nothing; that took a twentieth longer.
 */
lowerOtherThreads();

/** At this point the others are V8's helpers and Node's own. Those that are started later, and programs, are not meant. */
function lowerOtherThreads(): void {
  try {
    for (const thread of readdirSync('/proc/self/task').map(Number))
      if (thread !== process.pid) setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // As on other systems than Linux, which list threads elsewhere: they go on as they are.
  }
}
