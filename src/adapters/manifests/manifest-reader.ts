import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectSink } from '../../application/ports/cluster-source.js';
import type { FolderChanges } from '../files/folder-watch.js';
import { loadManifest, type ManifestContents } from './objects/load-manifest.js';
import { ManifestSyntaxError } from './manifest-errors.js';
import { readManifestFile } from './files/manifest-file.js';
import { fileSignature, type ManifestFiles } from './files/manifest-files.js';
import { ManifestIndex } from './manifest-index.js';
import { parseKey } from './objects/manifest-objects.js';
import type { ManifestReport } from './manifest-report.js';
import { Turns } from './turns.js';

const NOTHING = { objects: [], leftOut: [] };

/** How long a file that looks half-written, or is gone, is given before that is believed. */
const SETTLE_MILLISECONDS = 100;

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
  private readonly turns = new Turns();

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
      await this.turns.next();
    }
    const looking = performance.now() - began;

    const doubtful: string[] = [];
    for (const file of due) {
      if (signal.aborted) return looking;
      if (!(await this.load(file, false, signal))) doubtful.push(file);
      await this.turns.next();
    }
    if (doubtful.length > 0) await delay(SETTLE_MILLISECONDS, undefined, { signal });
    for (const file of doubtful) {
      if (signal.aborted) return looking;
      await this.load(file, true, signal);
      await this.turns.next();
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

  /**
   * Reads one file and delivers its difference. False when it is doubtful; with `final` it is believed as it is. Nothing is
   * delivered after an abort.
   */
  private async load(file: string, final: boolean, signal: AbortSignal): Promise<boolean> {
    const signature = fileSignature(file);
    if (signature === undefined) return this.gone(file, final, signal);
    let contents: ManifestContents;
    try {
      const text = await readManifestFile(file);
      const changing = fileSignature(file) !== signature;
      const emptied = text.trim() === '' && this.index.holds(file);
      if (!final && (changing || emptied)) return false;
      contents = await loadManifest(text, this.turns);
    } catch (error) {
      if (error instanceof ManifestSyntaxError) {
        if (!final) return false;
        this.report.syntax(file, error, this.index.holds(file));
      } else if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return this.gone(file, final, signal);
      } else {
        this.report.unreadable(file, error as Error);
      }
      this.signatures.set(file, signature);
      return true;
    }
    if (signal.aborted) return true;
    this.signatures.set(file, signature);
    await this.deliver(file, contents, signal);
    // Not before: as long as something is said to be left out, rules that nothing explains yet are kept.
    this.report.contents(file, contents);
    return true;
  }

  private async gone(file: string, final: boolean, signal: AbortSignal): Promise<boolean> {
    if (!final && this.index.holds(file)) return false;
    this.signatures.delete(file);
    this.report.forget(file);
    await this.deliver(file, NOTHING, signal);
    return true;
  }

  private async deliver(
    file: string,
    { objects, leftOut }: Pick<ManifestContents, 'objects' | 'leftOut'>,
    signal: AbortSignal,
  ): Promise<void> {
    const broken = new Set(leftOut.map(({ key }) => key));
    // An object without a name may be any of those that the file had.
    const staysHeld = (key: string): boolean => broken.has(key) || broken.has(undefined);
    const { applied, deleted, reread, duplicates } = this.index.replace(file, objects, staysHeld);
    this.report.duplicates(file, duplicates, this.files.compare);
    for (const { kind, object } of applied) {
      if (signal.aborted) return;
      this.sink.applied(kind, object);
      if (this.turns.due) await this.turns.next();
    }
    for (const key of deleted) {
      if (signal.aborted) return;
      const { kind, reference } = parseKey(key);
      this.sink.deleted(kind, reference);
      if (this.turns.due) await this.turns.next();
    }
    for (const other of reread) await this.load(other, true, signal);
  }
}
