import { execa } from 'execa';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** An object that a kustomization gives. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Debian's kubectl, taken out of its package into a folder of its own: nothing is installed. */
export class Kubectl {
  private constructor(private readonly folder: string) {}

  static async unpack(): Promise<Kubectl> {
    const folder = await mkdtemp(join(tmpdir(), 'kubectl-'));
    await execa('mmdebstrap', [
      '--quiet',
      '--variant=extract',
      '--include=kubernetes-client',
      'trixie',
      join(folder, 'root'),
    ]);
    return new Kubectl(folder);
  }

  /** The objects of a kustomization, in the order in which they would be applied. */
  async kustomize(kustomization: string): Promise<readonly Manifest[]> {
    const { stdout } = await execa(join(this.folder, 'root/usr/bin/kubectl'), ['kustomize', kustomization]);
    return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
