import type { ApiObject } from '../../support/api-server/object-store.js';
import type { Files } from '../world/files.js';

const FOLDER = '/etc/kubeproxy/manifests';

/** A folder of manifests, a file for each Service. */
export class ManifestFolder {
  private readonly texts = new Map<string, string>();

  constructor(private readonly files: Files) {}

  /** Writes a file as a whole, as by a rename. */
  write(name: string, objects: readonly ApiObject[]): void {
    const items = objects.map(({ metadata: { resourceVersion: _, ...metadata }, ...object }) => ({
      ...object,
      metadata,
    }));
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 1);
    this.texts.set(name, text);
    this.files.put(pathOf(name), text);
  }

  remove(name: string): void {
    this.texts.delete(name);
    this.files.remove(pathOf(name));
  }

  /** What an editor leaves that writes in place and is not done: this share of the file. */
  tear(name: string, share: number): void {
    const text = this.texts.get(name);
    if (text !== undefined) this.files.put(pathOf(name), text.slice(0, Math.floor(text.length * share)));
  }

  /** The editor is done. */
  mend(name: string): void {
    const text = this.texts.get(name);
    if (text !== undefined) this.files.put(pathOf(name), text);
  }

  mendAll(): void {
    for (const name of this.texts.keys()) this.mend(name);
  }
}

function pathOf(name: string): string {
  return `${FOLDER}/${name.replace('/', '-')}.json`;
}
