import { cutText } from '../../application/cut-text.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ManifestContents, RejectedObject } from './load-manifest.js';
import type { UnlistedFolder } from './manifest-files.js';
import type { ManifestSyntaxError } from './manifest-text.js';

/** How many items of a kind are listed for a file; the rest is counted. */
const SHOWN = 10;

/** Logs what is wrong with manifest files: once for each state of a file, not in every pass. Knows the current problems. */
export class ManifestReport {
  private readonly fileProblems = new Map<string, readonly string[]>();
  private unlistedFolders = new Map<string, string>();

  constructor(private readonly logger: Logger) {}

  /** Everything that is ignored at present, each with its place and the reason. */
  get problems(): readonly string[] {
    const folders = [...this.unlistedFolders].map(([path, problem]) => `${path}: ${problem}`);
    return [...folders, ...[...this.fileProblems.values()].flat()];
  }

  unreadable(file: string, error: Error): void {
    const problem = `${file}: ${error.message}`;
    if (this.fileProblems.get(file)?.[0] === problem) return;
    this.fileProblems.set(file, [problem]);
    this.logger.error(
      { file, error: error.message },
      'cannot read the manifest; keeping its last valid version',
    );
  }

  /** The file is gone; its problems are forgotten. */
  forget(file: string): void {
    this.fileProblems.delete(file);
  }

  folders(unlisted: readonly UnlistedFolder[]): void {
    for (const { path, problem } of unlisted) {
      if (this.unlistedFolders.get(path) === problem) continue;
      this.logger.error(
        { folder: path, error: problem },
        'cannot list the manifest folder; keeping the last valid versions of its files',
      );
    }
    this.unlistedFolders = new Map(unlisted.map(({ path, problem }) => [path, problem]));
  }

  syntax(file: string, error: ManifestSyntaxError, held: boolean): void {
    this.fileProblems.set(file, [`${error.place(file)}: ${error.message}`]);
    const facts = { file: error.place(file), error: error.message };
    this.logger.error(
      facts,
      held ? 'cannot parse the manifest; keeping its last valid version' : 'cannot parse the manifest',
    );
  }

  contents(file: string, { rejected: problems, ignored }: ManifestContents): void {
    const rejected = byObject(problems);
    const before = new Set(this.fileProblems.get(file));
    this.fileProblems.delete(file);
    if (ignored.size > 0) {
      this.logger.debug(
        { file, kinds: Object.fromEntries(ignored) },
        'the manifest contains kinds that the proxy does not read',
      );
    }
    if (rejected.length === 0) return;
    const texts = rejected.map((object) => rejectedText(file, object));
    this.fileProblems.set(file, texts);
    const news = rejected.filter((_, index) => !before.has(texts[index]!));
    for (const { line, subject, problem } of news.slice(0, SHOWN)) {
      this.logger.error(
        { file: placeOf(file, line), object: subject, problem },
        'ignoring an invalid object in a manifest; keeping its last valid version',
      );
    }
    if (news.length > SHOWN) {
      this.logger.error({ file, more: news.length - SHOWN }, 'ignoring more invalid objects in a manifest');
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
      this.logger.warn(facts, 'two manifests contain the same objects; using the later file');
    }
  }
}

/** All problems of an object in one, at the line of the first. */
function byObject(rejected: readonly RejectedObject[]): readonly RejectedObject[] {
  const bySubject = new Map<string, RejectedObject>();
  for (const each of rejected) {
    const id = each.key ?? `${each.subject}: ${each.problem}`;
    const earlier = bySubject.get(id);
    bySubject.set(id, earlier ? { ...earlier, problem: `${earlier.problem}; ${each.problem}` } : each);
  }
  return [...bySubject.values()].map((each) => ({ ...each, problem: cutText(each.problem) }));
}

/** `file:line: kind namespace/name: field: what is wrong`. */
function rejectedText(file: string, { line, subject, problem }: RejectedObject): string {
  return `${placeOf(file, line)}: ${subject}: ${problem}`;
}

/** `file:line`, if the line is known. */
function placeOf(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}
