import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** tsx keeps what it has compiled in the folder for temporary files. That of a run goes with it, so it takes the machine's. */
const folder = process.env.TMPDIR;
process.env.TMPDIR = dirname(folder);
// It compiles only the files of its configuration, and the page is not among those of the program.
process.env.TSX_TSCONFIG_PATH = fileURLToPath(new URL('tsx.json', import.meta.url));
await import('tsx');
process.env.TMPDIR = folder;
