import { execa } from 'execa';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes the archive that `deploy/image/build.sh build/root build/kube-proxy.tar` makes, of an empty root file system. */
export async function makeImageArchive(checkout: string): Promise<void> {
  const root = join(checkout, 'build/root');
  await mkdir(root, { recursive: true });
  const args = ['deploy/image/archive.mjs', root, 'build/kube-proxy.tar', 'amd64'];
  await execa(process.execPath, args, { cwd: checkout });
}

/** Has `deploy/image/build.sh` of a clone pack an archive without building what is in it, as test/deploy/image does. */
export async function packOnly(checkout: string): Promise<void> {
  const script = `#!/bin/sh -e
mkdir -p "$1"
exec node deploy/image/archive.mjs "$1" "$2" amd64
`;
  await writeFile(join(checkout, 'deploy/image/build.sh'), script);
}

/** The name that containerd gives to the image of an archive, without the default registry; rejects for what is no such archive. */
export async function imageIn(archive: string): Promise<string> {
  const { stdout } = await execa('tar', ['-xOf', archive, './index.json']);
  const { manifests } = JSON.parse(stdout) as { manifests: { annotations: Record<string, string> }[] };
  return manifests[0]!.annotations['io.containerd.image.name']!.replace('docker.io/library/', '');
}
