import { execa } from 'execa';
import { readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const bundle = `${repository}dist/kubeproxy.js`;
let built: Promise<string> | undefined;

/**
 * The program under test: dist/kubeproxy.js, built first when it is missing or older than its source.
 * The environment's KUBEPROXY names another one, to hold an installed copy against the same tests.
 */
export function builtProxy(): Promise<string> {
  built ??= process.env.KUBEPROXY ? Promise.resolve(process.env.KUBEPROXY) : build();
  return built;
}

async function build(): Promise<string> {
  const made = await modified(bundle);
  if (made === 0 || made < (await newestSource())) await execa('npm', ['run', 'build'], { cwd: repository });
  return bundle;
}

async function newestSource(): Promise<number> {
  const entries = await readdir(`${repository}src`, { recursive: true });
  const files = [...entries.map((entry) => `src/${entry}`), 'scripts/build.mjs', 'package-lock.json'];
  return Math.max(...(await Promise.all(files.map((file) => modified(`${repository}${file}`)))));
}

/** Milliseconds since 1970, or 0 when there is no such file. */
async function modified(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
