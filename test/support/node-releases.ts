import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The Nodes that the whole program is tested on; the first is the oldest that it runs on. */
export const NODE_RELEASES = [20, 24, 26] as const;

/** The file of one of them; that of this process on platforms that npm has no Node for. */
export function nodeRelease(major: (typeof NODE_RELEASES)[number]): string {
  const folder = execFileSync('sh', ['scripts/node-release.sh', `${major}`], { encoding: 'utf8' }).trim();
  return folder === '' ? process.execPath : join(folder, 'node');
}
