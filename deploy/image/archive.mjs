// Packs a root file system into an OCI image archive: node archive.mjs ROOT ARCHIVE ARCHITECTURE
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const [root, archive] = process.argv.slice(2, 4).map((path) => resolve(path));
const { version, license } = JSON.parse(await readFile('package.json', 'utf8'));
const architecture = process.argv[4];
/** The time of all files, so that the same inputs produce the same archive. */
const epoch = process.env.SOURCE_DATE_EPOCH ?? '0';
const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epoch}`];

const layout = await mkdtemp(join(tmpdir(), 'kube-proxy-image-'));
const blobs = join(layout, 'blobs/sha256');
await mkdir(blobs, { recursive: true });
try {
  const layer = await writeLayer();
  const config = await writeBlob({
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
  const manifest = await writeBlob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
    layers: [{ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', ...layer.descriptor }],
  });
  await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(
    join(layout, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      manifests: [
        {
          mediaType: 'application/vnd.oci.image.manifest.v1+json',
          ...manifest,
          annotations: {
            'org.opencontainers.image.ref.name': version,
            'io.containerd.image.name': `docker.io/library/kube-proxy-ts:${version}`,
          },
        },
      ],
    }),
  );
  execFileSync('tar', [...fixed, '-C', layout, '-cf', archive, '.']);
} finally {
  await rm(layout, { recursive: true });
}

/** The whole file system as one compressed layer. */
async function writeLayer() {
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
  await rename(path, join(blobs, digest));
  const { size } = await stat(join(blobs, digest));
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

async function writeBlob(value) {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(blobs, digest), bytes);
  return { digest: `sha256:${digest}`, size: bytes.length };
}
