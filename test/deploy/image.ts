import { execa } from 'execa';
import type { V1Container } from '@kubernetes/client-node';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerCommandLine } from '../support/container/command-line.js';
import { builtProxy } from '../support/program/built-proxy.js';
import type { Host } from '../support/testbed/host.js';

/** What the pod's environment says of the node it runs on. */
const nodeName = 'node1';

/** Folders of this machine by the names of the pod's volumes. */
export type Volumes = Readonly<Record<string, string>>;

/** The container image's root file system, built as for a release, and containers that run from it. */
export class Image {
  private constructor(private readonly folder: string) {}

  /** @param packed whether its archive is made as well */
  static async build({ packed }: { readonly packed: boolean }): Promise<Image> {
    await builtProxy();
    const image = new Image(await mkdtemp(join(tmpdir(), 'kube-proxy-image-')));
    const files = packed ? [image.root, image.archive] : [image.root];
    const { stderr } = await execa('deploy/image/build.sh', files);
    process.stderr.write(`${stderr}\n`);
    await writeFile(image.lock, '');
    await mkdir(image.modules);
    return image;
  }

  /** The OCI archive, if it is packed. */
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

  /** The command line that runs a container of this image in the network of a host. */
  commandLine(host: Host, container: V1Container, volumes: Volumes): string[] {
    return containerCommandLine(host, container, {
      root: ['--ro-bind', this.root, '/'],
      volumes: { 'xtables-lock': this.lock, 'kernel-modules': this.modules, ...volumes },
      fieldValue: () => nodeName,
    });
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
