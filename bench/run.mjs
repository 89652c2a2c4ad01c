/**
 * `npm run bench`: builds the program and the measurements, and runs them on the Node of the image, with `--this-node` on this one.
 * Only Node's own modules until the set-up has run.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.env.PATH += ':/usr/local/sbin:/usr/sbin:/sbin';

const THIS_NODE = '--this-node';
const words = process.argv.slice(2);
const isThisNode = words.includes(THIS_NODE);
const options = words.filter((word) => word !== THIS_NODE);

for (const command of [
  // The kernel for measuring mode ipvs is installed with the requirements of the tests.
  [
    'sh',
    'scripts/setup.sh',
    options.some((word) => /^(?:--mode=)?(?:ipvs|all)$/.test(word)) ? 'tests' : 'bench',
  ],
  [process.execPath, 'scripts/build.mjs'],
]) {
  const { status } = spawnSync(command[0], command.slice(1), {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}

const { build } = await import('esbuild');
const { bundleOptions } = await import('../scripts/bundle-options.mjs');
await build({
  ...bundleOptions,
  absWorkingDir: root,
  entryPoints: {
    main: 'bench/main.ts',
    'fleet-server': 'bench/fleet/server.ts',
    'in-process': 'bench/in-process.ts',
    generation: 'bench/generation.ts',
    'make-counters': 'bench/make-counters.ts',
    replay: 'bench/replay.ts',
    'server/api-server': 'bench/server/api-server.ts',
    'server/receive': 'bench/server/receive.ts',
    'tenants/victim': 'bench/tenants/victim.ts',
    'traffic/load': 'bench/traffic/load.ts',
    'traffic/slow-endpoints': 'bench/traffic/slow-endpoints.ts',
  },
  outdir: 'build/bench',
  // Built like the program, so that it takes as much memory.
  splitting: true,
});

// With all of client-node, which the program has in parts.
await build({
  ...bundleOptions,
  plugins: [],
  absWorkingDir: root,
  entryPoints: { 'server/informer': 'bench/server/informer.ts' },
  outdir: 'build/bench',
});

const node = isThisNode ? process.execPath : nodeOfImage();
console.log(`Node ${execFileSync(node, ['--version'], { encoding: 'utf8' })}`);
const { status } = spawnSync(node, ['build/bench/main.js', ...options], { cwd: root, stdio: 'inherit' });
process.exitCode = status ?? 1;

function nodeOfImage() {
  const folder = execFileSync('sh', ['scripts/node-release.sh', '24'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  if (folder === '') throw new Error(`npm has no Node 24 for this machine: measure with ${THIS_NODE}`);
  return `${folder}/node`;
}
