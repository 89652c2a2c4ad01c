/** The files that hold manifests: which they are, and their text. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { NamedError } from '../../domain/model/named-error.js';

/** A manifest path is unusable at the start. Names the path and what to do. */
export class ManifestPathError extends NamedError {
  constructor(
    readonly path: string,
    /** The system's error code, such as `ENOENT`; `EMPTY` for no path at all, which would mean the current folder. */
    readonly code: string,
  ) {
    super(
      `cannot use the manifest path ${JSON.stringify(path)}: ${reasonOf(code)}; use an existing file or folder`,
    );
  }
}

/** A file that cannot be a manifest, with any contents. */
export class ManifestFileError extends NamedError {
  constructor(
    readonly file: string,
    /** The problem, and the consequence. */
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** A path that the user gave. */
interface ManifestPath {
  readonly path: string;
  readonly folder: boolean;
}

/** A folder that is unreadable or gone; the last valid versions of its files are kept. */
export interface UnlistedFolder {
  readonly path: string;
  readonly problem: string;
}

const SUFFIX = /\.(?:yaml|yml|json)$/;

/**
 * The files behind the given paths. A file may have any name. A folder contributes, as with `kubectl apply -f`, the files
 * *.yaml, *.yml and *.json directly in it, except those whose names begin with a dot (editors' own). Links are followed.
 * Files are ordered by the position of their path, then by name; the later one wins.
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

  /** The folders by path that had files when they were listed last: which folder it was. */
  private readonly filled = new Map<string, string>();

  private constructor(private readonly paths: readonly ManifestPath[]) {}

  /** The folders to watch for changes. */
  folders(): readonly string[] {
    return [...new Set(this.paths.map(({ path, folder }) => (folder ? path : dirname(path))))];
  }

  /** Whether this file, in one of the folders, is one of these. */
  includes(file: string): boolean {
    return this.rank(file) >= 0;
  }

  /** Orders files; the later one wins. */
  readonly compare = (left: string, right: string): number =>
    this.rank(left) - this.rank(right) || (left < right ? -1 : left > right ? 1 : 0);

  /** All files in order, and the folders that are unreadable or gone. */
  list(): { readonly files: readonly string[]; readonly unlisted: readonly UnlistedFolder[] } {
    const files: string[] = [];
    const unlisted: UnlistedFolder[] = [];
    for (const { path, folder } of this.paths)
      try {
        const found = folder ? this.names(path).map((name) => join(path, name)) : [path];
        for (const file of found) files.push(file);
      } catch (error) {
        unlisted.push({ path, problem: (error as Error).message });
      }
    // Of a file with several places the last one counts.
    return { files: [...new Set(files.toReversed())].reverse(), unlisted };
  }

  /** Whether the file's own path was given, and not only that of its folder. */
  isGiven(file: string): boolean {
    return this.paths.some(({ path, folder }) => !folder && path === file);
  }

  /**
   * Whether a missing file may only be out of sight: it is a given path itself, or the folder that it was in is gone, as when
   * it is unmounted or moved.
   */
  isOutOfSight(file: string): boolean {
    const { path, folder } = this.paths[this.rank(file)]!;
    if (!folder) return true;
    try {
      this.names(path);
      return false;
    } catch {
      return true;
    }
  }

  /**
   * The names of the manifests in the folder.
   * @throws the system's error; ManifestFileError for an empty folder where another one had files, as a mount point has
   */
  private names(path: string): readonly string[] {
    const names = readdirSync(path).filter(isManifestName).sort();
    const { dev, ino } = statSync(path);
    const identity = `${dev}:${ino}`;
    if (names.length > 0) this.filled.set(path, identity);
    else if ((this.filled.get(path) ?? identity) !== identity) {
      const reason = 'is a different folder than before, and empty; add a file to it if this is intended';
      throw new ManifestFileError(path, reason);
    }
    return names;
  }

  /** The last position among the given paths that covers the file, or -1. */
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
 * Identifies the state of a file without reading it; undefined when it does not exist. An inaccessible file has a signature
 * too: reading it reports why.
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

/** The largest file that is read, in MiB. YAML takes 25 times its size in memory while it is read. */
const LARGEST_FILE = 32;
/** A file up to this size, in bytes, is read synchronously; asynchronously it would take several times longer. */
const SMALL_FILE = 256 * 1024;

/**
 * The text of a regular file; links are followed. Opens nothing else, so it never waits for the writer of a FIFO.
 * @throws ManifestFileError for anything else, and for a file that is too large
 * @throws the system's error
 */
export async function readManifestFile(file: string): Promise<string> {
  const stats = statSync(file);
  if (!stats.isFile()) throw new ManifestFileError(file, 'is not a regular file; ignoring it');
  const size = stats.size / 1024 / 1024;
  if (size > LARGEST_FILE) {
    const limit = `the limit is ${LARGEST_FILE} MiB; split it`;
    throw new ManifestFileError(file, `has ${Math.ceil(size)} MiB; ${limit}`);
  }
  return stats.size <= SMALL_FILE ? readFileSync(file, 'utf8') : await readFile(file, 'utf8');
}

/** Any line that is neither blank nor a comment nor a separator of documents. */
const CONTENT = /^[ \t]*[^\s#-]/m;

/** Whether a manifest has nothing but blanks, comments and separators: as when a writer truncates it, and then fails. */
export function holdsNothing(text: string): boolean {
  return !CONTENT.test(text);
}

function reasonOf(code: string): string {
  if (code === 'EMPTY') return 'it is empty';
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'access is denied';
  return `the system reports ${code}`;
}
