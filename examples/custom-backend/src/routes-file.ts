import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';

/** The file. It is replaced in one step, so a reader never sees half of it. */
export class RoutesFile {
  constructor(private readonly path: string) {}

  /** Undefined when there is none. */
  read(): Promise<string | undefined> {
    return readFile(this.path, 'utf8').catch(() => undefined);
  }

  async write(text: string): Promise<void> {
    await writeFile(`${this.path}.new`, text);
    await rename(`${this.path}.new`, this.path);
  }

  remove(): Promise<void> {
    return rm(this.path, { force: true });
  }

  /** Changes whenever the file does. */
  async version(): Promise<string> {
    const { ino, mtimeNs, size } = await stat(this.path, { bigint: true }).catch(() => NO_FILE);
    return `${ino} ${mtimeNs} ${size}`;
  }
}

const NO_FILE = { ino: 0n, mtimeNs: 0n, size: 0n };
