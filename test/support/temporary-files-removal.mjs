import { rmSync } from 'node:fs';

/** Removes what temporary-files.mjs made. */
export default function tearDown() {
  rmSync(process.env.TMPDIR, { recursive: true, force: true });
}
