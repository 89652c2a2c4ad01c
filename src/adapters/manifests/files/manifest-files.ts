import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ManifestPathError } from '../manifest-errors.js';

/** A path that the user gave. */
export interface ManifestPath {
  readonly path: string;
  readonly folder: boolean;
}

/** A folder that could not be listed; what its files held stays. */
export interface UnlistedFolder {
  readonly path: string;
  readonly problem: string;
}

const SUFFIX = /\.(?:yaml|yml|json)$/;

/**
 * The files behind the given paths. A file is taken whatever its name; of a folder, as with `kubectl apply -f`, the
 * files *.yaml, *.yml and *.json directly in it, without those whose names begin with a dot (editors' own). Links are
 * followed. Files are ordered by the position of their path, then by name; the greater one wins.
 */
export class ManifestFiles {
  /** Throws ManifestPathError for the first path that is empty or does not exist. */
  static open(paths: readonly string[]): ManifestFiles {
    return new ManifestFiles(
      paths.map((given) => {
        if (given === '') throw new ManifestPathError(given, 'EMPTY');
        const path = resolve(given);
        try {
          return { path, folder: statSync(path).isDirectory() };
        } catch (error) {
          throw new ManifestPathError(given, (error as NodeJS.ErrnoException).code ?? String(error));
        }
      }),
    );
  }

  private constructor(private readonly paths: readonly ManifestPath[]) {}

  /** The folders whose entries tell of changes. */
  folders(): readonly string[] {
    return [...new Set(this.paths.map(({ path, folder }) => (folder ? path : dirname(path))))];
  }

  /** Whether a file of this name, in one of the folders, is one of ours. */
  includes(file: string): boolean {
    return this.rank(file) >= 0;
  }

  /** Orders files; the greater one wins. */
  readonly compare = (left: string, right: string): number =>
    this.rank(left) - this.rank(right) || (left < right ? -1 : left > right ? 1 : 0);

  /** All files in order, and the folders that could not be listed. A folder that is gone has no files. */
  list(): { readonly files: readonly string[]; readonly unlisted: readonly UnlistedFolder[] } {
    const files = new Set<string>();
    const unlisted: UnlistedFolder[] = [];
    const add = (file: string): void => {
      files.delete(file);
      files.add(file);
    };
    for (const { path, folder } of this.paths) {
      if (!folder) {
        add(path);
        continue;
      }
      try {
        const names = readdirSync(path).filter(isManifestName).sort();
        for (const name of names) add(join(path, name));
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code !== 'ENOENT') unlisted.push({ path, problem: message });
      }
    }
    return { files: [...files], unlisted };
  }

  /** The last position among the given paths that stands for the file, or -1. */
  private rank(file: string): number {
    return this.paths.findLastIndex(({ path, folder }) =>
      folder ? dirname(file) === path && isManifestName(basename(file)) : file === path,
    );
  }
}

function isManifestName(name: string): boolean {
  return SUFFIX.test(name) && !name.startsWith('.');
}

/**
 * Tells one state of a file from another without reading it; undefined when there is no such file. A file that cannot be
 * looked at has a signature too: reading it will say why.
 */
export function fileSignature(file: string): string | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat || stat.isDirectory()) return undefined;
    return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
