import { readFileSync } from 'node:fs';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { ObjectSink } from '../../application/ports/cluster-source.js';
import type { FolderChanges } from '../files/folder-watch.js';
import { ManifestSyntaxError } from './manifest-errors.js';
import { fileSignature, type ManifestFiles } from './manifest-files.js';
import { ManifestIndex } from './manifest-index.js';
import { type ManifestContents, type ManifestObject, parseKey, readObjects } from './manifest-objects.js';
import type { ManifestReport } from './manifest-report.js';
import { parseManifest } from './manifest-text.js';

/** How long a file that looks half-written, or is gone, is given before that is believed. */
const SETTLE_MILLISECONDS = 100;
/** Work is done in slices of about this length, so that nothing else waits long. */
const SLICE_MILLISECONDS = 10;

/**
 * Looks at files and delivers the difference to what they held before. Files are read one at a time, and nothing of them
 * is kept but signatures, keys and digests.
 *
 * In a pass a file is one of
 * - unchanged: its signature is the same and no event named it; it is not read;
 * - sound: read, its difference is delivered;
 * - doubtful: it does not parse, became empty, changed while it was read, or is gone. As writers are often only half-way,
 *   doubtful files are looked at once more after 100 ms, and then believed: what does not parse is reported, and what the
 *   file held before stays; what is gone or empty is deleted.
 * A file that cannot be read at all is reported once, and tried again at every pass.
 */
export class ManifestReader {
  private readonly index: ManifestIndex;
  private readonly signatures = new Map<string, string>();
  private lastSlice = performance.now();

  constructor(
    private readonly files: ManifestFiles,
    private readonly sink: ObjectSink,
    private readonly report: ManifestReport,
  ) {
    this.index = new ManifestIndex(files.compare);
  }

  /**
   * Brings the receiver up to date. Returns the milliseconds it took to find out which files have changed.
   * Rejects with an AbortError when aborted while waiting; nothing is delivered after an abort.
   */
  async pass(changes: FolderChanges, signal: AbortSignal): Promise<number> {
    const began = performance.now();
    const due: string[] = [];
    for (const file of changes.all ? this.everyFile() : [...changes.files].sort(this.files.compare)) {
      if (changes.files.has(file) || this.looksChanged(file)) due.push(file);
      await this.breathe();
    }
    const looking = performance.now() - began;

    const doubtful: string[] = [];
    for (const file of due) {
      if (signal.aborted) return looking;
      if (!this.load(file, false)) doubtful.push(file);
      await this.breathe();
    }
    if (doubtful.length > 0) await delay(SETTLE_MILLISECONDS, undefined, { signal });
    for (const file of doubtful) {
      if (signal.aborted) return looking;
      this.load(file, true);
      await this.breathe();
    }
    return looking;
  }

  /** The files there are and those there were. */
  private everyFile(): Iterable<string> {
    const { files, unlisted } = this.files.list();
    this.report.folders(unlisted);
    const keep = unlisted.map(({ path }) => `${path}/`);
    const all = new Set(files);
    for (const file of this.signatures.keys())
      if (!keep.some((folder) => file.startsWith(folder))) all.add(file);
    return all;
  }

  private looksChanged(file: string): boolean {
    return fileSignature(file) !== this.signatures.get(file) || this.report.unread(file);
  }

  /** Reads one file and delivers its difference. False when it is doubtful; with `final` it is believed as it is. */
  private load(file: string, final: boolean): boolean {
    const signature = fileSignature(file);
    if (signature === undefined) return this.gone(file, final);
    let contents: ManifestContents;
    try {
      const text = readFileSync(file, 'utf8');
      const changing = fileSignature(file) !== signature;
      const emptied = text.trim() === '' && this.index.holds(file);
      if (!final && (changing || emptied)) return false;
      contents = readObjects(parseManifest(text));
      this.report.contents(file, text, contents);
    } catch (error) {
      if (error instanceof ManifestSyntaxError) {
        if (!final) return false;
        this.report.syntax(file, error, this.index.holds(file));
      } else if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return this.gone(file, final);
      } else {
        this.report.unreadable(file, error as Error);
      }
      this.signatures.set(file, signature);
      return true;
    }
    this.signatures.set(file, signature);
    this.deliver(file, contents.objects);
    return true;
  }

  private gone(file: string, final: boolean): boolean {
    if (!final && this.index.holds(file)) return false;
    this.signatures.delete(file);
    this.report.forget(file);
    this.deliver(file, []);
    return true;
  }

  private deliver(file: string, objects: readonly ManifestObject[]): void {
    const { applied, deleted, reread, duplicates } = this.index.replace(file, objects);
    this.report.duplicates(file, duplicates, this.files.compare);
    for (const { kind, object } of applied) this.sink.applied(kind, object);
    for (const key of deleted) {
      const { kind, reference } = parseKey(key);
      this.sink.deleted(kind, reference);
    }
    for (const other of reread) this.load(other, true);
  }

  /** Lets the event loop turn when a slice of work has been done. */
  private async breathe(): Promise<void> {
    if (performance.now() - this.lastSlice < SLICE_MILLISECONDS) return;
    await setImmediate();
    this.lastSlice = performance.now();
  }
}
