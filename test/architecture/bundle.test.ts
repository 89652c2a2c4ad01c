import { build, type Metafile } from 'esbuild';
import { bundleOptions } from '../../scripts/bundle-options.mjs';

const DIAGNOSTICS = 'src/diagnostics/';
/** By which the program loads them: for the debug routes, and for a command. */
const ENTRIES = ['src/diagnostics/bootstrap/debug-routes.ts', 'src/diagnostics/bootstrap/commands.ts'];

let outputs: Metafile['outputs'];
beforeAll(async () => {
  const { metafile } = await build({
    ...bundleOptions,
    entryPoints: { kubeproxy: 'src/main.ts' },
    outdir: 'dist',
    splitting: true,
    sourcemap: false,
    write: false,
    metafile: true,
  });
  outputs = metafile.outputs;
});

/** The sources in the files of the bundle that a proxy may load, unless somebody requests the diagnostics. */
function loadedSources(): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = ['dist/kubeproxy.js'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (loaded.has(path)) continue;
    loaded.add(path);
    const imports = outputs[path]!.imports.filter(({ external }) => !external);
    waiting.push(
      ...imports.map((one) => one.path).filter((one) => !ENTRIES.includes(outputs[one]!.entryPoint ?? '')),
    );
  }
  return new Set([...loaded].flatMap((path) => Object.keys(outputs[path]!.inputs)));
}

it('a proxy whose debug routes nobody requests loads no file of its diagnostics', () => {
  const sources = loadedSources();
  expect(sources).toContain('src/bootstrap/run-proxy.ts');
  expect(sources).toContain('src/adapters/nftables/nftables-driver.ts');
  expect([...sources].filter((path) => path.startsWith(DIAGNOSTICS))).toEqual([]);
});

it('the diagnostics are in the bundle', () => {
  const sources = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  expect(sources).toEqual(expect.arrayContaining(ENTRIES));
});
