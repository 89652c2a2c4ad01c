// Makes the kubectl plugin as a single file, its archive and its krew manifest: node scripts/plugin.mjs FOLDER
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fixed } from '../deploy/image/layout.mjs';
import { bundleOptions } from './bundle-options.mjs';

const folder = resolve(process.argv[2] ?? 'build/plugin');
const { version, homepage } = JSON.parse(await readFile('package.json', 'utf8'));
const site = homepage.replace(/#.*/, '');
const [name, archive] = ['kubectl-kubeproxy', `kubectl-kubeproxy-${version}.tar.gz`];

await mkdir(folder, { recursive: true });
await build({
  ...bundleOptions,
  sourcemap: false,
  entryPoints: ['src/main.ts'],
  outfile: join(folder, name),
  banner: { js: `#!/usr/bin/env node\n${bundleOptions.banner.js}` },
});
await chmod(join(folder, name), 0o755);
for (const file of ['LICENSE', 'dist/THIRD-PARTY-NOTICES'])
  await copyFile(file, join(folder, file.replace('dist/', '')));

const files = [name, 'LICENSE', 'THIRD-PARTY-NOTICES'];
execFileSync('tar', [...fixed, '-C', folder, '-I', 'gzip -n', '-cf', join(folder, archive), ...files]);
const sha256 = createHash('sha256')
  .update(await readFile(join(folder, archive)))
  .digest('hex');

await writeFile(
  join(folder, 'kubeproxy.yaml'),
  `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: kubeproxy
spec:
  version: v${version}
  homepage: ${site}
  shortDescription: Explain and compare what kube-proxy-ts programs on each node
  description: |
    Asks the proxies of all nodes why a Service does not answer, what differs between
    nodes, which connections lead where, and whether endpoints can be stopped.
  caveats: |
    Requires Node.js 20.19 or newer on this machine, and kube-proxy-ts in the cluster.
  platforms:
    - selector:
        matchExpressions: [{ key: os, operator: In, values: [linux, darwin] }]
      uri: ${site}/releases/download/v${version}/${archive}
      sha256: ${sha256}
      bin: ${name}
`,
);
