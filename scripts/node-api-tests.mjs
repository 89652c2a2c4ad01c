// Prints the hermetic tests that another Node can make a difference to, one a line: those that use what Node itself brings to
// talk, compress, inspect and start things, or whose subject uses that. What a test shares with others counts as its own.
// By day only those of whole programs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const NODE = /from 'node:(child_process|dgram|http|https|http2|inspector|net|tls|worker_threads|zlib)['/]/;
const IMPORT = /^import (?!type)[^;]*? from '(\.[^']+)\.js';$/gm;

function usesNode(path, seen = new Set()) {
  if (seen.has(path)) return false;
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  if (NODE.test(text)) return true;
  if (path.startsWith('src/')) return false;
  const imported = [...text.matchAll(IMPORT)].map(([, name]) => join(path, '..', `${name}.ts`));
  return imported.some((other) => usesNode(existsSync(other) ? other : `${other}x`, seen));
}

const layers = process.env.NIGHTLY ? ['adapters', 'bootstrap'] : ['bootstrap'];
for (const folder of layers.flatMap((layer) => [`test/${layer}`, `test/diagnostics/${layer}`]))
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = join(folder, name);
    if (path.endsWith('.test.ts') && usesNode(path)) console.log(path);
  }
