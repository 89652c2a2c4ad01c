// Packs a root file system into an OCI image archive: node archive.mjs ROOT ARCHIVE ARCHITECTURE
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { readFile, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { epoch, fixed, packLayout, writeBlob } from './layout.mjs';

const [root, archive] = process.argv.slice(2, 4).map((path) => resolve(path));
const { version, license } = JSON.parse(await readFile('package.json', 'utf8'));
const architecture = process.argv[4];

await packLayout(archive, async (layout) => {
  const layer = await writeLayer(layout);
  const config = await writeBlob(layout, {
    created: new Date(Number(epoch) * 1000).toISOString(),
    architecture,
    os: 'linux',
    config: {
      Entrypoint: ['/usr/local/bin/kube-proxy'],
      Env: [
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        // The first line of a program takes one option only (bin/kubeproxy has all).
        'NODE_OPTIONS=--max-old-space-size=1024 --v8-pool-size=1',
      ],
      Labels: {
        'org.opencontainers.image.title': 'kube-proxy-ts',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': license,
      },
    },
    rootfs: { type: 'layers', diff_ids: [layer.diffId] },
  });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = await writeBlob(layout, {
    schemaVersion: 2,
    mediaType,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', ...layer.descriptor }],
  });
  return { mediaType, ...manifest, platform: { os: 'linux', architecture } };
});

/** The whole file system as one compressed layer. */
async function writeLayer(layout) {
  const tar = spawn('tar', [...fixed, '-C', root, '-cf', '-', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => tar.once('close', done));
  const [plain, compressed] = [createHash('sha256'), createHash('sha256')];
  const path = join(layout, 'layer');
  await pipeline(
    tar.stdout,
    hashing(plain),
    createGzip({ level: 6 }),
    hashing(compressed),
    createWriteStream(path),
  );
  const code = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}`);
  const digest = compressed.digest('hex');
  const blob = join(layout, 'blobs/sha256', digest);
  await rename(path, blob);
  const { size } = await stat(blob);
  return { diffId: `sha256:${plain.digest('hex')}`, descriptor: { digest: `sha256:${digest}`, size } };
}

function hashing(hash) {
  return async function* (chunks) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}
