import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printableJson, printableLines } from '../../../../adapters/process/quote.js';
import { errorMessage } from '../../../../application/error-message.js';
import { BUNDLE_PARTS, type NodeBundle } from '../../../application/cluster/node-bundle.js';
import { NamedError } from '../../../../domain/model/named-error.js';

/** The folder for bundles cannot be used. */
export class BundleFolderError extends NamedError {
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(`cannot write to ${path}: ${reason}; name a new or an empty folder with --to`, options);
  }
}

/** A folder with one folder for each node. Only its owner can read it. */
export class BundleFolder {
  private constructor(private readonly path: string) {}

  /** Makes the folder. @throws BundleFolderError, if it is there and not empty, too */
  static async open(path: string): Promise<BundleFolder> {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      if ((await readdir(path)).length === 0) return new BundleFolder(path);
    } catch (error) {
      throw new BundleFolderError(path, errorMessage(error), { cause: error });
    }
    throw new BundleFolderError(path, 'it is not empty');
  }

  /** Writes what a node's proxy said, a file for each part. @throws BundleFolderError */
  async write(node: string, { version, collectedAt, parts }: NodeBundle): Promise<void> {
    const folder = join(this.path, fileName(node));
    await this.tryTo(async () => {
      await mkdir(folder, { mode: 0o700 });
      await writeFile(join(folder, 'version.txt'), printableLines(`${version}\ncollected ${collectedAt}\n`));
      for (const name of BUNDLE_PARTS) {
        const part = parts[name];
        if (typeof part === 'string') await writeFile(join(folder, `${name}.txt`), printableLines(part));
        else await writeFile(join(folder, `${name}.json`), json(part));
      }
    });
  }

  /** Writes which nodes are missing, and why. @throws BundleFolderError */
  writeSummary(summary: object): Promise<void> {
    return this.tryTo(() => writeFile(join(this.path, 'summary.json'), json(summary)));
  }

  private async tryTo(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new BundleFolderError(this.path, errorMessage(error), { cause: error });
    }
  }
}

function json(value: unknown): string {
  return `${printableJson(JSON.stringify(value, undefined, 2) ?? 'null')}\n`;
}

/** Whatever a node is called, its folder is in the bundle's. */
function fileName(node: string): string {
  return node.replace(/[^\w.-]|^\.+/g, '_') || '_';
}
