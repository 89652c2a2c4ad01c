import { execa } from 'execa';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { builtProxy } from '../support/program/built-proxy.js';

it('queries all nodes, also through a link in the PATH', async () => {
  await builtProxy();
  const folder = await mkdtemp(join(tmpdir(), 'plugin-'));
  try {
    await symlink(resolve('bin/kubectl-kubeproxy'), join(folder, 'kubectl-kubeproxy'));
    const env = { HOME: folder, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' };
    const run = (...args: readonly string[]) =>
      execa(join(folder, 'kubectl-kubeproxy'), args, { env, reject: false });
    const [help, alone] = await Promise.all([run('--help'), run('status')]);
    expect(help.stdout).toMatch(/^Usage: kubectl kubeproxy COMMAND/);
    expect(alone).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('there is no kubeconfig') });
  } finally {
    await rm(folder, { recursive: true });
  }
});
