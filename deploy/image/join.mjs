// Joins the archives of several processors into one, as an image index: node join.mjs ARCHIVE PART…
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { packLayout, writeBlob } from './layout.mjs';

const [archive, ...parts] = process.argv.slice(2).map((path) => resolve(path));

await packLayout(archive, async (layout) => {
  const manifests = [];
  for (const part of parts) {
    // Blobs are named by their contents, so parts do not overwrite each other's.
    execFileSync('tar', ['-xf', part, '-C', layout]);
    const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'));
    const [{ mediaType, digest, size, platform }] = index.manifests;
    manifests.push({ mediaType, digest, size, platform });
  }
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  return { mediaType, ...(await writeBlob(layout, { schemaVersion: 2, mediaType, manifests })) };
});
