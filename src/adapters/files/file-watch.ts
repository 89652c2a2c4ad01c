import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Logger } from '../../application/ports/logger.js';
import { FolderWatch } from './folder-watch.js';

/** The contents of a file, or why it is unreadable. */
export type FileContents = { readonly text: string } | { readonly error: Error };

/** How often the file is checked without an event, in milliseconds: a link may lead to a folder that is not watched. */
const POLL_PERIOD = 1_000;
/** After this many attempts a file that is written all the time is taken as it is. */
const ATTEMPTS = 3;

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
   * Resolves when the contents differ from the last result, the first time at once. Undefined when aborted. Not reentrant.
   */
  async next(signal: AbortSignal): Promise<FileContents | undefined> {
    while (!signal.aborted) {
      const contents = await this.read();
      if (signal.aborted) break;
      const identity = JSON.stringify('text' in contents ? contents : reasonOf(contents.error));
      if (identity !== this.last) {
        this.last = identity;
        return contents;
      }
      await this.folder.next(this.pollPeriod, signal);
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
        const before = written;
        written = await stat(this.file);
        // If the file was written meanwhile, the text may be incomplete.
        const unchanged = written.mtimeMs === before.mtimeMs && written.size === before.size;
        if (unchanged || attempt === ATTEMPTS) return { text };
      }
    } catch (error) {
      return { error: error as Error };
    }
  }
}

/** The same whichever call found it. */
function reasonOf(error: NodeJS.ErrnoException): string {
  return error.code ?? error.message;
}
