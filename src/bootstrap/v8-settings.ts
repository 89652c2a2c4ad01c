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
