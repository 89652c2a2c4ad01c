import { dirname } from 'node:path';

/** tsx keeps what it has compiled in the folder for temporary files. That of a run goes with it, so it takes the machine's. */
const folder = process.env.TMPDIR;
process.env.TMPDIR = dirname(folder);
await import('tsx');
process.env.TMPDIR = folder;
