import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives one run of tests a folder of its own for temporary files: nothing of it stays, whichever test fails. */
export default function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'kubeproxy-'));
  chmodSync(folder, 0o755); // some tests run programs as another user
  process.env.TMPDIR = folder;
}
