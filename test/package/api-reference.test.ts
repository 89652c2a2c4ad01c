import { execa } from 'execa';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

it('the API reference can be written: everything public is exported and described', async () => {
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
  } finally {
    await rm(folder, { recursive: true });
  }
}, 180_000);
