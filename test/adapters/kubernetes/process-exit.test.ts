import { join } from 'node:path';
import { build } from 'esbuild';
import { mkdtemp } from 'node:fs/promises';
import { execa } from 'execa';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { RELEASES } from '../../support/api-server/release.js';
import { tmpdir } from 'node:os';

/** In a process of its own, bundled as the product is: what is loaded, and whether anything keeps the process alive. */
const PROGRAM = `
import { ApiClient } from './src/adapters/kubernetes/client/api-client.js';
import { KubernetesSource } from './src/adapters/kubernetes/kubernetes-source.js';
const clock = { now: () => Date.now(), steady: () => performance.now(), after: (ms, f) => { const t = setTimeout(f, ms); return { cancel: () => clearTimeout(t) }; } };
const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger };
const client = new ApiClient({ kubeconfig: process.argv[2] }, clock);
const source = new KubernetesSource(async () => client, { nodeName: 'n' }, clock, logger);
let synced = 0;
const all = new Promise((resolve) => {
  const sink = { applied() {}, deleted() {}, synced: () => ++synced === 4 && resolve() };
  source.start(sink, new AbortController().signal);
});
await all;
await source.stop();
console.log('stopped', process.getActiveResourcesInfo().filter((name) => /Timeout|TLS|TCP/.test(name)).join());
`;

it('a process that has stopped its source ends by itself', async () => {
  const api = await StandInApiServer.start();
  try {
    const outdir = await mkdtemp(join(tmpdir(), 'source-'));
    const bundle = join(outdir, 'program.mjs');
    await build({
      stdin: { contents: PROGRAM, resolveDir: process.cwd() },
      outfile: bundle,
      bundle: true,
      format: 'esm',
      platform: 'node',
      banner: { js: "import { createRequire as c } from 'node:module'; const require = c(import.meta.url);" },
      logLevel: 'error',
    });
    for (const version of RELEASES) {
      api.version = version;
      const begun = Date.now();
      const { stdout } = await execa('node', [bundle, await writeKubeconfig(api)], { timeout: 50_000 });
      expect(stdout).toMatch(/^stopped/);
      // A watch or an idle connection that is left would keep it for minutes.
      expect(Date.now() - begun).toBeLessThan(30_000);
    }
  } finally {
    await api.close();
  }
});
