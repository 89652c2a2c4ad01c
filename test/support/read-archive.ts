import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';

/** The files of a .tar.gz archive, by their paths. */
export async function readArchive(path: string): Promise<Readonly<Record<string, string>>> {
  const reader = extract();
  reader.end(gunzipSync(await readFile(path)));
  const files: Record<string, string> = {};
  for await (const entry of reader) {
    const pieces: Buffer[] = [];
    for await (const piece of entry) pieces.push(piece as Buffer);
    files[entry.header.name] = Buffer.concat(pieces).toString('utf8');
  }
  return files;
}
