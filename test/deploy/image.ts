import { execa } from 'execa';
import type { V1Container } from '@kubernetes/client-node';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProxy } from '../support/program/built-proxy.js';
import type { Host } from '../support/testbed/host.js';

/** What the pod's environment says of the node it runs on. */
const nodeName = 'node1';

/** Folders of this machine by the names of the pod's volumes. */
export type Volumes = Readonly<Record<string, string>>;

/** The container image's root file system, built as for a release, and containers that run from it. */
export class Image {
  private constructor(private readonly folder: string) {}

  static async build(): Promise<Image> {
    await builtProxy();
    const image = new Image(await mkdtemp(join(tmpdir(), 'kube-proxy-image-')));
    const { stderr } = await execa('deploy/image/build.sh', [image.root, image.archive]);
    process.stderr.write(`${stderr}\n`);
    await writeFile(image.lock, '');
    await mkdir(image.modules);
    return image;
  }

  /** The OCI archive. */
  get archive(): string {
    return join(this.folder, 'archive.tar');
  }

  /** The root file system. */
  get root(): string {
    return join(this.folder, 'root');
  }

  /** Kernel modules are the machine's own business here. */
  private get modules(): string {
    return join(this.folder, 'modules');
  }

  private get lock(): string {
    return join(this.folder, 'xtables.lock');
  }

  /**
   * The command line that runs a container as its pod describes it, in the network of a host: its command, its mounts,
   * its capabilities and no others, without a way to gain more, on a root file system that is not writable.
   */
  commandLine(
    host: Host,
    { command, env, securityContext, volumeMounts }: V1Container,
    volumes: Volumes,
  ): string[] {
    const places: Volumes = { 'xtables-lock': this.lock, 'kernel-modules': this.modules, ...volumes };
    const mounts = (volumeMounts ?? []).flatMap(({ name, mountPath, readOnly }) => [
      readOnly ? '--ro-bind' : '--bind',
      places[name]!,
      mountPath.replace(/^\/var\/run\//, '/run/').replace(/^\/lib\//, '/usr/lib/'),
    ]);
    const privileged = securityContext?.privileged === true;
    const granted = (securityContext?.capabilities?.add ?? []).map((capability) => `CAP_${capability}`);
    const variables = new Map((env ?? []).map(({ name }) => [name, nodeName]));
    return host.commandLine([
      'bwrap',
      ...['--die-with-parent', '--unshare-pid', '--clearenv'],
      ...['--setenv', 'PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      ...['--ro-bind', this.root, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run'],
      ...[privileged ? '--bind' : '--ro-bind', '/sys', '/sys'],
      ...(privileged ? [] : ['--ro-bind', '/proc/sys', '/proc/sys']),
      ...mounts,
      ...['--remount-ro', '/'],
      ...(privileged
        ? ['--cap-add', 'ALL']
        : ['--cap-drop', 'ALL', ...granted.flatMap((name) => ['--cap-add', name])]),
      ...command!.map((word) => word.replace(/\$\((\w+)\)/g, (_, name: string) => variables.get(name)!)),
    ]);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
