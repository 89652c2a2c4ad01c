import { execa } from 'execa';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

it('the API reference can be written: everything public is exported and described, and links lead to pages', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-api-'));
  try {
    const { exitCode, all } = await execa(
      'npm',
      ['run', '--silent', 'docs:api', '--', '--skipErrorChecking', '--out', folder],
      {
        cwd: repository,
        all: true,
        reject: false,
      },
    );
    expect(exitCode === 0 || all).toBe(true);
    const pages = await readdir(folder, { recursive: true });
    for (const page of ['index.html', 'functions/index.createProxy.html', 'interfaces/index.Backend.html'])
      expect(pages).toContain(page);
    const broken = pages
      .filter((page) => page.endsWith('.html'))
      .flatMap((page) => {
        const text = readFileSync(join(folder, page), 'utf8');
        return [...text.matchAll(/href="([^"#]+)/g)]
          .map(([, target]) => target!)
          .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(folder, dirname(page), target)))
          .map((target) => `${page}: ${target}`);
      });
    expect(broken).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 180_000);
