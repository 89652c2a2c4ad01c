import { setFlagsFromString } from 'node:v8';

/*
 * A node's memory is for its pods. Left to itself V8 lets the heap grow to several times of what is alive before it collects
 * garbage, and keeps 32 MB for new objects. It reads these settings each time it sizes the heap. With 10,000 services they
 * save some 35 MB, for about a quarter more of this process's time at the first sync.
 */
setFlagsFromString('--heap-growing-percent=50');
setFlagsFromString('--semi-space-growth-factor=1');
