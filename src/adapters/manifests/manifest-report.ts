import type { Logger } from '../../application/ports/logger.js';
import type { ManifestContents } from './objects/load-manifest.js';
import type { ManifestSyntaxError } from './manifest-errors.js';
import type { UnlistedFolder } from './files/manifest-files.js';
import { leftOutText, placeOf, syntaxText, unreadText } from './problem-text.js';

/** Of many things of one sort in a file, so many are named; the rest is counted. */
const SHOWN = 10;

/** Says what is wrong with manifest files: once for each state of a file, not at every look. Knows what is wrong now. */
export class ManifestReport {
  private readonly unreadFiles = new Map<string, string>();
  private readonly fileProblems = new Map<string, readonly string[]>();
  private unlistedFolders = new Map<string, string>();

  constructor(private readonly logger: Logger) {}

  /** What is left out at present, each with its place and the reason. */
  get problems(): readonly string[] {
    const folders = [...this.unlistedFolders].map(([path, problem]) => `${path}: ${problem}`);
    return [...folders, ...[...this.fileProblems.values()].flat()];
  }

  /** Whether the last attempt to read the file failed. */
  unread(file: string): boolean {
    return this.unreadFiles.has(file);
  }

  unreadable(file: string, error: Error): void {
    if (this.unreadFiles.get(file) === error.message) return;
    this.unreadFiles.set(file, error.message);
    this.fileProblems.set(file, [unreadText(file, error)]);
    this.logger.error({ file, error: error.message }, 'cannot read the manifest; what it held before stays');
  }

  /** The file is gone: nothing is remembered of it. */
  forget(file: string): void {
    this.unreadFiles.delete(file);
    this.fileProblems.delete(file);
  }

  folders(unlisted: readonly UnlistedFolder[]): void {
    for (const { path, problem } of unlisted) {
      if (this.unlistedFolders.get(path) === problem) continue;
      this.logger.error(
        { folder: path, error: problem },
        'cannot list the manifest folder; what it held before stays',
      );
    }
    this.unlistedFolders = new Map(unlisted.map(({ path, problem }) => [path, problem]));
  }

  syntax(file: string, error: ManifestSyntaxError, held: boolean): void {
    this.unreadFiles.delete(file);
    this.fileProblems.set(file, [syntaxText(file, error)]);
    const facts = { file: error.place(file), error: error.message };
    this.logger.error(
      facts,
      held ? 'manifest does not parse; what it held before stays' : 'manifest does not parse',
    );
  }

  contents(file: string, { leftOut, ignored }: ManifestContents): void {
    const before = new Set(this.fileProblems.get(file));
    this.unreadFiles.delete(file);
    this.fileProblems.delete(file);
    if (ignored.size > 0) {
      this.logger.debug(
        { file, kinds: Object.fromEntries(ignored) },
        'manifest holds kinds that the proxy does not read',
      );
    }
    if (leftOut.length === 0) return;
    const texts = leftOut.map((object) => leftOutText(file, object));
    this.fileProblems.set(file, texts);
    const news = leftOut.filter((_, index) => !before.has(texts[index]!));
    for (const { line, subject, problem } of news.slice(0, SHOWN)) {
      this.logger.error(
        { file: placeOf(file, line), object: subject, problem },
        'object in manifest is left out; what it held before stays',
      );
    }
    if (news.length > SHOWN) {
      this.logger.error({ file, more: news.length - SHOWN }, 'more objects in manifest are left out');
    }
  }

  duplicates(
    file: string,
    duplicates: ReadonlyMap<string, readonly string[]>,
    compare: (left: string, right: string) => number,
  ): void {
    for (const [other, keys] of duplicates) {
      const [used, unused] = compare(file, other) > 0 ? [file, other] : [other, file];
      const facts = { used, unused, objects: keys.slice(0, SHOWN), count: keys.length };
      this.logger.warn(facts, 'two manifests hold the same objects; the later file counts');
    }
  }
}
