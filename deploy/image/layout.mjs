// An OCI image layout, packed into an archive.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The time of all files, so that the same inputs produce the same archive. */
export const epoch = process.env.SOURCE_DATE_EPOCH ?? '0';
/** Options of tar for that. */
export const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', `--mtime=@${epoch}`];

/**
 * Packs a layout.
 * @param fill writes blobs into the folder `blobs/sha256` of the layout, whose path it gets, and returns the descriptor of the image
 */
export async function packLayout(archive, fill) {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  const layout = await mkdtemp(join(tmpdir(), 'kube-proxy-image-'));
  try {
    await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
    const image = await fill(layout);
    const annotations = {
      'org.opencontainers.image.ref.name': version,
      'io.containerd.image.name': `docker.io/library/kube-proxy-ts:${version}`,
    };
    await writeFile(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await writeFile(
      join(layout, 'index.json'),
      JSON.stringify({ schemaVersion: 2, manifests: [{ ...image, annotations }] }),
    );
    execFileSync('tar', [...fixed, '-C', layout, '-cf', archive, '.']);
  } finally {
    await rm(layout, { recursive: true });
  }
}

/** Writes a value as JSON into a layout. Returns its digest and size. */
export async function writeBlob(layout, value) {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(layout, 'blobs/sha256', digest), bytes);
  return { digest: `sha256:${digest}`, size: bytes.length };
}
