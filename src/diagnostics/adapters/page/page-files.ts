import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The built files of the page, with their media types. */
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
} as const;

export type PageFileName = keyof typeof TYPES;

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** The page as the build left it. It is read when it is asked for, so that a proxy at which nobody looks does not hold it. */
export class PageFiles {
  /** @param folder where the build put them */
  constructor(private readonly folder: URL = builtPage(import.meta.url)) {}

  /** Rejects with the system's error when the file cannot be read. */
  async read(name: PageFileName): Promise<PageFile> {
    return { type: TYPES[name], body: await readFile(new URL(name, this.folder)) };
  }
}

/** `dist/page` of this package, seen from a file of its bundle, of its library or of its source. */
function builtPage(file: string): URL {
  let folder = new URL('.', file);
  for (;;) {
    const candidate = new URL('dist/page/', folder);
    const parent = new URL('..', folder);
    if (existsSync(candidate) || parent.href === folder.href) return candidate;
    folder = parent;
  }
}
