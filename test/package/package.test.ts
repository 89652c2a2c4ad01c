import { execa } from 'execa';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
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
/** The code blocks of a section of docs/embedding.md. */
async function codeIn(heading: string): Promise<readonly string[]> {
  const page = await readFile(`${installed.root}/docs/embedding.md`, 'utf8');
  const section = page.split(new RegExp(`^##+ ${heading}$`, 'm'))[1]!.split(/^##/m)[0]!;
  return [...section.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, code]) => code!);
}

/** The first example with the call that the section on configuration has instead. */
async function configuredExample(): Promise<string> {
  const [[example], [call]] = await Promise.all([codeIn('First example'), codeIn('Configuration')]);
  const beginning = example!.slice(0, example!.indexOf('const proxy ='));
  return `${beginning}${call}await proxy.start(); await proxy.programmed(); await proxy.stop(); export { sleep };`;
}

/** Compiles if each declaration that docs/embedding.md shows is that of the package, or a part of a longer one. */
async function shownTypes(): Promise<string> {
  const [block] = await codeIn('Your own backend');
  const names = [...block!.matchAll(/^interface (\w+)/gm)].map(([, name]) => name!);
  expect(names).toEqual(['ForwardingChange', 'ForwardingEntry', 'Frontend']);
  const used = ['ServicePortKey', 'ServicePortName', 'IpFamily', 'EndpointSelection', 'Cidr', ...names];
  const whole = (name: string): string =>
    name === 'ForwardingEntry' ? `Pick<real.${name}, keyof shown${name}.${name}>` : `real.${name}`;
  return [
    `import type * as real from 'kube-proxy-ts';`,
    `import type { ${used.join(', ')} } from 'kube-proxy-ts';`,
    // In a namespace of its own, each refers to the package's versions of the others.
    ...block!
      .split('\n\n')
      .map(
        (one, index) => `namespace shown${names[index]} { ${one.replace(/^interface/, 'export interface')} }`,
      ),
    'type Within<One, Other> = [One, keyof One] extends [Other, keyof Other] ? true : false;',
    'type Same<One, Other> = [Within<One, Other>, Within<Other, One>];',
    ...names.map(
      (name) => `export const same${name}: Same<shown${name}.${name}, ${whole(name)}> = [true, true];`,
    ),
  ].join('\n');
}

/** The lines of a log that are not informational. */
const problemsIn = (log: string): readonly string[] =>
  log.split('\n').filter((line) => !line.startsWith('I'));

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

  it('has the documents that the comments of its types name', async () => {
    const types = (await installed.files()).filter((file) => /^lib\/.*\.d\.ts$/.test(file));
    const texts = await Promise.all(types.map((file) => readFile(`${installed.root}/${file}`, 'utf8')));
    const named = new Set(texts.flatMap((text) => text.match(/docs\/[\w./-]+\.md/g) ?? []));
    expect(named).toContain('docs/embedding.md');
    expect([...named].filter((page) => !existsSync(`${installed.root}/${page}`))).toEqual([]);
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
      await writeFile(`${program}/src/shown-types.ts`, await shownTypes());
      await writeFile(`${program}/src/proxy.mjs`, (await codeIn('First example'))[0]!);
      await writeFile(`${program}/src/configured.mjs`, await configuredExample());
      const strictest = {
        module: 'nodenext',
        target: 'es2022',
        strict: true,
        checkJs: true,
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

  it('runs the first example of docs/embedding.md as printed on any Node, where netlink is unavailable', async () => {
    const [program, output] = await codeIn('First example');
    const koffi = `${installed.root}/node_modules/koffi`;
    await mkdir(koffi, { recursive: true });
    try {
      await writeFile(`${koffi}/index.js`, "throw new Error('no binary')");
      await writeFile(`${installed.folder}/proxy.mjs`, program!);
      for (const release of NODE_RELEASES) {
        const running = execa(nodeRelease(release), ['proxy.mjs'], {
          cwd: installed.folder,
          timeout: 60_000,
        });
        const { stdout, stderr } = await running;
        expect(`${stdout}\n`).toBe(output);
        expect(problemsIn(stderr)).toEqual([]);
      }
    } finally {
      await rm(dirname(koffi), { recursive: true });
    }
  }, 240_000);

  it('follows an API server as docs/embedding.md configures it, and logs no error and no warning on any Node', async () => {
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
      const text = await configuredExample();
      const configured = text.replace('/etc/kubernetes/kube-proxy.conf', await writeKubeconfig(api));
      await writeFile(`${installed.folder}/configured.mjs`, configured);
      for (const release of NODE_RELEASES) {
        const running = execa(nodeRelease(release), ['configured.mjs'], {
          cwd: installed.folder,
          timeout: 60_000,
        });
        const { stdout, stderr } = await running;
        expect(stdout).toMatch(/^shop\/cart\/tcp\/ 10\.96\.0\.80:80 -> $/m);
        expect(stderr).toContain('"programmed everything"');
        expect(problemsIn(stderr)).toEqual([]);
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
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/embedding.md']));
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
