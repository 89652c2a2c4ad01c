// Writes the man pages, from the source of --help: node scripts/man.mjs FOLDER, such as /usr/share/man
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { dirname, join } from 'node:path';
import { load } from './docs/load.mjs';

const { manPages } = await load('man-pages');
const { version } = JSON.parse(await readFile('package.json', 'utf8'));

for (const { path, text } of manPages(version)) {
  const file = join(process.argv[2], path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
