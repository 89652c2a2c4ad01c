import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Logger } from '../../application/ports/logger.js';
import { FolderWatch } from './folder-watch.js';

/** What a file holds, or why it cannot be read. */
export type FileContents = { readonly text: string } | { readonly error: Error };

/** So often the file is looked at without being told, in milliseconds: a link may lead to a folder that is not watched. */
const LOOK_PERIOD = 1_000;
/** A file that is written all the time is taken as it is after so many. */
const ATTEMPTS = 3;

/**
 * Follows the contents of one file through rewrites, renames, removal, and the swap of the link by which a mounted
 * ConfigMap changes.
 */
export class FileWatch {
  private readonly file: string;
  private readonly folder: FolderWatch;
  private last: string | undefined;

  constructor(
    path: string,
    logger: Logger,
    private readonly lookPeriod = LOOK_PERIOD,
  ) {
    this.file = resolve(path);
    this.folder = new FolderWatch([dirname(this.file)], (changed) => changed === this.file, logger);
  }

  /**
   * Resolves when the contents are others than those given last: the first time at once. Undefined when aborted. Not
   * reentrant.
   */
  async next(signal: AbortSignal): Promise<FileContents | undefined> {
    while (!signal.aborted) {
      const contents = await this.read();
      if (signal.aborted) break;
      const identity = JSON.stringify('text' in contents ? contents : contents.error.message);
      if (identity !== this.last) {
        this.last = identity;
        return contents;
      }
      await this.folder.next(this.lookPeriod, signal);
    }
    return undefined;
  }

  close(): void {
    this.folder.close();
  }

  private async read(): Promise<FileContents> {
    try {
      let written = await stat(this.file);
      for (let attempt = 1; ; attempt++) {
        const text = await readFile(this.file, 'utf8');
        const former = written;
        written = await stat(this.file);
        // What was written meanwhile may have been read in part.
        const stands = written.mtimeMs === former.mtimeMs && written.size === former.size;
        if (stands || attempt === ATTEMPTS) return { text };
      }
    } catch (error) {
      return { error: error as Error };
    }
  }
}
