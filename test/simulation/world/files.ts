import type { Life } from './life.js';

/** A file of the simulated machine: kept, or made by its kernel. */
export interface SimulatedFile {
  read(): string | Buffer;
  /** Throws an error with a code where it must not be written. */
  write?(data: Buffer): void;
  readonly isReadOnly?: boolean;
}

interface Entry {
  readonly file: SimulatedFile;
  inode: number;
  changed: number;
}

/** What is known of a file or a folder. */
export interface FileFacts {
  readonly isFolder: boolean;
  readonly size: number;
  readonly mode: number;
  readonly inode: number;
  readonly changed: number;
}

/** An error as the system gives it. */
export function systemError(code: string, call: string, path: string): Error {
  const texts: Record<string, string> = {
    ENOENT: 'no such file or directory',
    EACCES: 'permission denied',
    EROFS: 'read-only file system',
    EBADF: 'bad file descriptor',
    EISDIR: 'illegal operation on a directory',
  };
  return Object.assign(new Error(`${code}: ${texts[code] ?? code.toLowerCase()}, ${call} '${path}'`), {
    code,
    syscall: call,
    path,
  });
}

/** The files of a machine. Folders are there as long as something is in them. */
export class Files {
  private readonly entries = new Map<string, Entry>();
  private readonly watchers = new Set<{
    readonly folder: string;
    readonly noticed: (name: string) => void;
  }>();
  private inodes = 1;

  /** @param now the time of the machine */
  constructor(private readonly now: () => number) {}

  /** A file that somebody writes; replaces the one before, as by a rename. */
  put(path: string, content: string | Buffer): void {
    let data = content;
    this.mount(path, {
      read: () => data,
      write: (next) => {
        data = next;
        this.touched(path);
      },
    });
  }

  /** A file that the kernel makes. */
  mount(path: string, file: SimulatedFile): void {
    this.entries.set(path, { file, inode: this.inodes++, changed: this.now() });
    this.touched(path);
  }

  remove(path: string): void {
    if (this.entries.delete(path)) this.notify(path);
  }

  read(path: string): string | Buffer {
    return this.entry(path, 'open').file.read();
  }

  write(path: string, data: Buffer): void {
    const { file } = this.entry(path, 'open');
    if (!file.write || file.isReadOnly) throw systemError(file.isReadOnly ? 'EROFS' : 'EACCES', 'open', path);
    file.write(data);
  }

  /** Those in a folder and below. */
  paths(folder: string): readonly string[] {
    return [...this.entries.keys()].filter((path) => path.startsWith(folder));
  }

  has(path: string): boolean {
    return this.facts(path) !== undefined;
  }

  facts(path: string): FileFacts | undefined {
    const entry = this.entries.get(path);
    if (entry) {
      const { file, inode, changed } = entry;
      const size = Buffer.byteLength(file.read());
      return { isFolder: false, size, mode: file.isReadOnly ? 0o100444 : 0o100644, inode, changed };
    }
    const folder = `${path.replace(/\/$/, '')}/`;
    for (const name of this.entries.keys())
      if (name.startsWith(folder)) return { isFolder: true, size: 0, mode: 0o40755, inode: 1, changed: 0 };
    return undefined;
  }

  list(path: string): readonly string[] {
    const folder = `${path.replace(/\/$/, '')}/`;
    const names = [...this.entries.keys()]
      .filter((name) => name.startsWith(folder))
      .map((name) => name.slice(folder.length).split('/')[0]!);
    if (names.length === 0) throw systemError('ENOENT', 'scandir', path);
    return [...new Set(names)].sort();
  }

  /** Calls back with the names of files of a folder that change. */
  watch(folder: string, noticed: (name: string) => void): () => void {
    if (!this.has(folder)) throw systemError('ENOENT', 'watch', folder);
    const watcher = { folder: folder.replace(/\/$/, ''), noticed };
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private entry(path: string, call: string): Entry {
    const entry = this.entries.get(path);
    if (entry) return entry;
    throw systemError(this.has(path) ? 'EISDIR' : 'ENOENT', call, path);
  }

  private touched(path: string): void {
    const entry = this.entries.get(path);
    if (entry) entry.changed = this.now();
    this.notify(path);
  }

  private notify(path: string): void {
    const at = path.lastIndexOf('/');
    for (const { folder, noticed } of this.watchers)
      if (folder === path.slice(0, at)) noticed(path.slice(at + 1));
  }
}

/** Open files of the simulated machine. Their numbers are far above those of sockets. */
export class Descriptors {
  private readonly paths = new Map<number, string>();
  private next = 100_000;

  /** @param owner with which it is closed at the latest */
  open(path: string, owner: Life): number {
    const descriptor = this.next++;
    this.paths.set(descriptor, path);
    owner.onEnd(() => this.close(descriptor));
    return descriptor;
  }

  /** The paths of those that are open. */
  get opened(): readonly string[] {
    return [...this.paths.values()];
  }

  pathOf(descriptor: number): string {
    const path = this.paths.get(descriptor);
    if (path === undefined) throw systemError('EBADF', 'fstat', String(descriptor));
    return path;
  }

  close(descriptor: number): void {
    this.paths.delete(descriptor);
  }
}
