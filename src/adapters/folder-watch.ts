/** Watches folders and files for changes. */

import { statSync, watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, dirname, resolve } from 'node:path';
import { errorMessage } from '../application/error-message.js';
import type { Logger } from '../application/ports/logger.js';

/** A change is returned after this time, so that a writer can finish. */
const SETTLE_MILLISECONDS = 30;

/**
 * Watches folders, not files: files come and go by rename, and a mounted ConfigMap changes all its files by swapping one
 * link (`..data`). If the system reports nothing (network file systems, a link to elsewhere, a recreated folder), `next` times out and
 * the caller checks the files itself; lost watches are restored at that time.
 */
export class FolderWatch {
  private readonly watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  private readonly failures = new Map<string, string>();
  private hasChanged = false;
  private wake: (() => void) | undefined;

  /** `relevant` decides which files matter. */
  constructor(
    private readonly folders: readonly string[],
    private readonly relevant: (file: string) => boolean,
    private readonly logger: Logger,
  ) {
    this.ensureWatches();
  }

  /** Resolves after a change, after the timeout, or when aborted. Not reentrant. */
  async next(timeoutMilliseconds: number, signal: AbortSignal): Promise<void> {
    if (!this.hasChanged) await this.sleep(timeoutMilliseconds, signal);
    if (this.hasChanged) await this.sleep(SETTLE_MILLISECONDS, signal);
    else this.ensureWatches();
    this.hasChanged = false;
  }

  close(): void {
    for (const { watcher } of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private ensureWatches(): void {
    for (const folder of this.folders) {
      const identity = identityOf(folder);
      const current = this.watchers.get(folder);
      if (current?.identity === identity) continue;
      current?.watcher.close();
      this.watchers.delete(folder);
      if (identity !== undefined) this.watchFolder(folder, identity);
    }
  }

  private watchFolder(folder: string, identity: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.noticed(folder, name));
      watcher.on('error', (error) => {
        this.logger.debug({ folder, error }, 'folder watch ended; it will be restored');
        watcher.close();
        this.watchers.delete(folder);
      });
      this.watchers.set(folder, { watcher, identity });
      this.failures.delete(folder);
    } catch (error) {
      const problem = errorMessage(error);
      if (this.failures.get(folder) !== problem) {
        this.failures.set(folder, problem);
        this.logger.warn(
          { folder, error: problem },
          'cannot watch the folder; checking every second instead',
        );
      }
    }
  }

  private noticed(folder: string, name: string | null): void {
    if (name !== null && !name.startsWith('..') && !this.relevant(join(folder, name))) return;
    if (!this.hasChanged) this.wake?.();
    this.hasChanged = true;
  }

  private sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        this.wake = undefined;
        done();
      };
      const timer = setTimeout(finish, milliseconds);
      if (signal.aborted) finish();
      else signal.addEventListener('abort', finish, { once: true });
      this.wake = finish;
    });
  }
}

/** Inode numbers are reused immediately, but not together with the same birth time. */
function identityOf(folder: string): string | undefined {
  try {
    const stat = statSync(folder, { throwIfNoEntry: false });
    return stat && `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;
  } catch {
    // Listing the folder fails the same way and reports it.
    return undefined;
  }
}

/** The contents of a file, or why it is unreadable. */
export type FileContents = { readonly text: string } | { readonly error: Error };

/** How often the file is checked without an event, in milliseconds: a link may lead to a folder that is not watched. */
const POLL_PERIOD = 1_000;

/**
 * Follows the contents of one file through rewrites, renames, removal, and the link swap that updates a mounted ConfigMap.
 */
export class FileWatch {
  private readonly file: string;
  private readonly folder: FolderWatch;
  private last: string | undefined;

  constructor(
    path: string,
    logger: Logger,
    private readonly pollPeriod = POLL_PERIOD,
  ) {
    this.file = resolve(path);
    this.folder = new FolderWatch([dirname(this.file)], (changed) => changed === this.file, logger);
  }

  /**
   * Resolves when the contents differ from the last result, the first time immediately. New contents count when they are read twice: a
   * writer that empties the file first may not have finished. Undefined when aborted. Not reentrant.
   */
  async next(signal: AbortSignal): Promise<FileContents | undefined> {
    let seen: string | undefined;
    while (!signal.aborted) {
      const contents = await this.read();
      if (signal.aborted) break;
      const identity = JSON.stringify('text' in contents ? contents : reasonOf(contents.error));
      const isNew = identity !== this.last;
      if (isNew && (this.last === undefined || identity === seen)) {
        this.last = identity;
        return contents;
      }
      seen = identity;
      await this.folder.next(isNew ? SETTLE_MILLISECONDS : this.pollPeriod, signal);
    }
    return undefined;
  }

  close(): void {
    this.folder.close();
  }

  private async read(): Promise<FileContents> {
    try {
      return { text: await readFile(this.file, 'utf8') };
    } catch (error) {
      return { error: error as Error };
    }
  }
}

/** The same whichever call found it. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}
