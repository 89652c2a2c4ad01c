import { execa } from 'execa';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every digest and size that an OCI archive tells is that of its file, and the image starts the proxy. */
export async function expectRightDigests(archive: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kube-proxy-archive-'));
  try {
    await execa('tar', ['-xf', archive, '-C', folder]);
    const bytes = (digest: string): Promise<Buffer> =>
      readFile(join(folder, 'blobs', digest.replace(':', '/')));
    const read = async (digest: string) => JSON.parse((await bytes(digest)).toString('utf8'));
    const index = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'));
    const manifest = await read(index.manifests[0].digest);
    const config = await read(manifest.config.digest);
    for (const { digest, size } of [index.manifests[0], manifest.config, ...manifest.layers]) {
      const blob = await bytes(digest);
      expect(blob.length).toBe(size);
      expect(`sha256:${createHash('sha256').update(blob).digest('hex')}`).toBe(digest);
    }
    expect(config.config.Entrypoint).toEqual(['/usr/local/bin/kube-proxy']);
    expect(config.rootfs.diff_ids).toHaveLength(manifest.layers.length);
  } finally {
    await rm(folder, { recursive: true });
  }
}
