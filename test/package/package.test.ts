import { build } from 'esbuild';
import { execa } from 'execa';
import { existsSync } from 'node:fs';
import { cp, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StandInApiServer } from '../support/api-server/api-server.js';
import { writeKubeconfig } from '../support/api-server/kubeconfig.js';
import { nightly, sampleOf } from '../support/nightly.js';
import { NODE_RELEASES, nodeRelease } from '../support/node-releases.js';
import { FreshCheckout } from './fresh-checkout.js';
import { InstalledPackage } from './installed-package.js';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const example = 'examples/custom-backend';
const manifests = fileURLToPath(new URL('../../deploy/examples', import.meta.url));
/** In the report of `node --test`; Node 20 and 24 begin the line differently. */
const NOTHING_FAILED = /^. fail 0$/m;
/** What docs/embedding.md begins with: a program's file, beside those of the example. */
async function firstExample(): Promise<string> {
  return /^```ts\n([^]*?)^```$/m.exec(await readFile(`${installed.root}/docs/embedding.md`, 'utf8'))![1]!;
}
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await InstalledPackage.make();
}, 180_000);
afterAll(() => installed?.remove());

describe('the packed package, in another program', () => {
  it('has its entries with their types, and nothing of the checkout besides', async () => {
    const files = await installed.files();
    for (const entry of ['index', 'fakes', 'contract'])
      expect(files).toEqual(expect.arrayContaining([`lib/${entry}.js`, `lib/${entry}.d.ts`]));
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'dist/THIRD-PARTY-NOTICES', 'schemas/status.json']),
    );
    expect(
      files.filter((file) =>
        /^(src|test|bench|node_modules|scripts|dist\/(?!page\/)[^/]+\/)|tsbuildinfo/.test(file),
      ),
    ).toEqual([]);
  });

  it('loads of client-node only what is small and runs on every Node', async () => {
    const scripts = (await installed.files()).filter((file) => /^lib\/.*\.js$/.test(file));
    const texts = await Promise.all(scripts.map((file) => readFile(`${installed.root}/${file}`, 'utf8')));
    const loaded = texts.flatMap((text) =>
      [...text.matchAll(/(?:\bfrom|\bimport\()\s*['"](@kubernetes\/client-node[^'"]*)/g)].map(
        ([, name]) => name,
      ),
    );
    expect([...new Set(loaded)]).toEqual(['@kubernetes/client-node/dist/types.js']);
  });

  it('has no type of the injection library in its own', async () => {
    const types = (await installed.files()).filter((file) => file.endsWith('.d.ts'));
    const texts = await Promise.all(types.map((file) => readFile(`${installed.root}/${file}`, 'utf8')));
    expect(types.filter((_, place) => /inversify/.test(texts[place]!))).toEqual([]);
  });

  it.each([
    ['publint', ['run', '--strict']],
    ['attw', ['--profile', 'esm-only', '--no-emoji']],
  ])('is what %s would have it', async (tool, args) => {
    const { exitCode, all } = await execa(`node_modules/.bin/${tool}`, [...args, installed.archive], {
      cwd: repository,
      all: true,
      reject: false,
    });
    expect([exitCode, exitCode === 0 ? '' : all]).toEqual([0, '']);
  });

  // That they are found by each way of resolution, attw has shown; the example is built with the other compiler.
  it.each(sampleOf(['@typescript/native', 'typescript']))(
    'has types that hold under the strictest options, by themselves and in a program, with the compiler %s',
    async (compiler) => {
      const program = `${installed.folder}/program`;
      await cp(`${installed.root}/${example}`, program, { recursive: true });
      const uses = [
        `import { createProxy } from 'kube-proxy-ts';`,
        `import { FakeClock } from 'kube-proxy-ts/fakes';`,
        `import * as contract from 'kube-proxy-ts/contract';`,
        'export const used: readonly unknown[] = [createProxy, FakeClock, contract];',
        '// @ts-expect-error The types are there, so this is an error.',
        'createProxy(1);',
      ];
      await writeFile(`${program}/src/uses.ts`, uses.join('\n'));
      await writeFile(`${program}/src/first-example.ts`, await firstExample());
      const strictest = {
        module: 'nodenext',
        target: 'es2022',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        types: ['node'],
        noEmit: true,
      };
      await writeFile(`${program}/tsconfig.json`, JSON.stringify({ compilerOptions: strictest }));
      const { exitCode, stdout } = await execa(
        'node',
        [`${repository}/node_modules/${compiler}/bin/tsc`, '--project', program],
        { reject: false },
      );
      expect([exitCode, stdout]).toEqual([0, '']);
    },
  );

  it('is used by the first example of docs/embedding.md, which logs no error and no warning on any Node', async () => {
    const api = await StandInApiServer.start();
    try {
      const node = { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] };
      const ports = [{ port: 80, protocol: 'TCP' }];
      api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, status: node });
      api.put({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'shop', name: 'cart' },
        spec: { clusterIP: '10.96.0.80', clusterIPs: ['10.96.0.80'], ports },
      });
      const program = `${installed.folder}/running`;
      await cp(`${installed.root}/${example}`, program, { recursive: true });
      const text = (await firstExample())
        .replace('/run/routes.txt', `${program}/routes.txt`)
        .replace('/etc/kubernetes/kube-proxy.conf', await writeKubeconfig(api));
      await writeFile(`${program}/src/first-example.ts`, text);
      const outfile = `${program}/first-example.mjs`;
      await build({
        ...{ entryPoints: [`${program}/src/first-example.ts`], outfile, logLevel: 'silent' },
        ...{ bundle: true, packages: 'external', format: 'esm', platform: 'node', target: 'node20' },
      });
      for (const release of NODE_RELEASES) {
        const running = execa(nodeRelease(release), [outfile], { cwd: program, timeout: 60_000 });
        const { stdout, stderr } = await running;
        expect(stderr).toContain('"programmed everything"');
        expect([stdout, ...stderr.split('\n').filter((line) => !line.startsWith('I'))]).toEqual(['']);
      }
    } finally {
      await api.close();
    }
  }, 240_000);

  it('has the pages and folders that its pages link to', async () => {
    const pages = (await installed.files()).filter((file) => file.endsWith('.md'));
    const targets = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(installed.root, page), 'utf8');
        const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target]) => target!);
        return links
          .filter((target) => !/^[a-z]+:/.test(target))
          .filter((target) => !existsSync(join(installed.root, dirname(page), target)))
          .map((target) => `${page}: ${target}`);
      }),
    );
    expect(pages).toContain('README.md');
    expect(targets.flat()).toEqual([]);
  });
});

describe('the example, where it stands', () => {
  let checkout: FreshCheckout;
  beforeAll(async () => {
    checkout = await FreshCheckout.make();
    // As `npm run build:library` makes it.
    if (nightly) await cp(`${installed.root}/lib`, `${checkout.folder}/lib`, { recursive: true });
  });
  afterAll(() => checkout?.remove());

  const places: readonly (readonly [string, () => string])[] = [
    ['the package', () => installed.root],
    ['a checkout', () => checkout.folder],
  ];
  it.each(nightly ? places : places.slice(0, 1))(
    'in %s is installed, built and tested as its documentation says',
    async (_, root) => {
      const cwd = `${root()}/${example}`;
      // No registry is asked: what would come from there is there already.
      for (const name of ['typescript', '@types/node', 'undici-types'])
        await cp(`${repository}/node_modules/${name}`, `${cwd}/node_modules/${name}`, { recursive: true });
      const env = { npm_config_offline: 'true' };
      const commands = await checkout.commands(`${example}/README.md`);
      const [install, start, test] = commands.slice(-3);
      expect([install, start, test]).toEqual([
        'npm install && npm run build',
        expect.stringMatching(/^npm start -- /),
        'npm test',
      ]);
      await execa('sh', ['-c', install!], { cwd, env });
      expect(await realpath(`${cwd}/node_modules/kube-proxy-ts`)).toBe(await realpath(root()));
      const { stdout } = await execa('sh', ['-c', test!], { cwd, env });
      expect(stdout).toMatch(NOTHING_FAILED);
      // A backend of one's own passes the contract, and a whole proxy runs in memory.
      expect(Number(/^. pass (\d+)$/m.exec(stdout)![1])).toBeGreaterThan(30);
    },
    120_000,
  );

  it('follows manifests until it is ended, once it is built', async () => {
    const cwd = `${installed.root}/${example}`;
    const file = `${cwd}/routes.txt`;
    const program = execa('node', ['dist/main.js', manifests, file], { cwd });
    try {
      for (const start = Date.now(); Date.now() - start < 20_000; await sleep(50))
        if ((await readFile(file, 'utf8').catch(() => '')) !== '') break;
    } finally {
      program.kill('SIGTERM');
    }
    const { exitCode, stdout } = await program;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('routes are in')]);
    expect(await readFile(file, 'utf8')).toMatch(/^10\.96\.0\.80:80\/TCP (10\.\S+:\d+,?){3}$/m);
  });
});
