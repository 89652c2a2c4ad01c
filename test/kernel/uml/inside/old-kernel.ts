import { expect } from 'expect';
import { release } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { Command } from '../../../support/program/command.js';
import { clusterObjects } from '../../../support/testbed/cluster-objects.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

describe('on a kernel that is too old for nftables mode', () => {
  let testbed: Testbed;
  let folder: string;
  before(async () => {
    testbed = await Testbed.open();
    folder = await mkdtemp(join(tmpdir(), 'old-kernel-'));
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
    const web = { name: 'web', clusterIP: '172.30.20.11', ports, endpoints: ['10.244.1.11'] };
    await writeFile(join(folder, 'objects.yaml'), clusterObjects([web]));
  });
  after(async () => {
    await testbed.close();
    await rm(folder, { recursive: true });
  });

  const runOnce = (mode: string, env: Readonly<Record<string, string>> = {}) =>
    Command.run(
      testbed.node,
      ['--once', '--proxy-mode', mode, '--hostname-override', 'node1', '--manifests', folder],
      { env },
    );
  const tables = () => testbed.node.run(['nft', 'list', 'tables']);

  it('nftables mode ends with an error that names both kernels, and writes nothing', async () => {
    const { exitCode, stderr } = await runOnce('nftables');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stderr).toContain(
      `kube-proxy in nftables mode requires kernel 5.13 or later; this is ${release()}`,
    );
    expect(await tables()).not.toContain('kube-proxy');
  });

  it('auto mode takes iptables', async () => {
    const { exitCode, stderr } = await runOnce('auto');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(await tables()).not.toContain('kube-proxy');
    expect(await testbed.node.run(['iptables-save', '-t', 'nat'])).toContain('default/web:http');
  });

  it('nftables mode serves where its administrator skips that check', async () => {
    const { exitCode, stderr } = await runOnce('nftables', {
      KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK: '1',
    });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(await tables()).toContain('table ip kube-proxy');
  });
});
