import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterSource, ObjectSink, SourceStatus } from '../../application/ports/cluster-source.js';
import type { Logger } from '../../application/ports/logger.js';
import { getOrMake } from '../../domain/model/maps.js';
import { FolderWatch } from '../folder-watch.js';
import { loadManifest, parseKey, TimeSlice, type ManifestContents } from './load-manifest.js';
import {
  fileSignature,
  holdsNothing,
  ManifestFileError,
  ManifestFiles,
  readManifestFile,
} from './manifest-files.js';
import { ManifestIndex } from './manifest-index.js';
import { MANIFEST_KINDS } from './manifest-kinds.js';
import { ManifestReport } from './manifest-report.js';
import { ManifestSyntaxError } from './manifest-text.js';

/** Which manifests are read, and how. */
export interface ManifestSourceOptions {
  /** Files and folders, in order: if two contain the same object, the later one counts. */
  readonly paths: readonly string[];
  /** Whether changes are followed after the first pass. Default true. */
  readonly watch?: boolean;
  readonly logger: Logger;
  /** Milliseconds since any time; for tests. */
  readonly now?: () => number;
}

/** How often all files are checked even if the system reports no change. */
const POLL_MILLISECONDS = 1000;
/** Checking all files may take this share of the time: with very many files it happens less often. */
const POLL_SHARE = 0.02;

/**
 * Objects from YAML and JSON files. ManifestFiles finds the files, ManifestReader reads them. The first pass reads all files
 * and ends with `synced` for every kind, even if some were unreadable. Then edits are followed, usually within 100 ms.
 */
export class ManifestSource implements ClusterSource {
  private readonly stopping = new AbortController();
  private readonly report: ManifestReport;
  private reader: ManifestReader | undefined;
  private work: Promise<void> = Promise.resolve();

  constructor(private readonly options: ManifestSourceOptions) {
    this.report = new ManifestReport(options.logger);
  }

  get problems(): readonly string[] {
    return this.report.problems;
  }

  get delivering(): boolean {
    return this.reader?.delivering ?? false;
  }

  /** Empty: files do not go stale. */
  status(): readonly SourceStatus[] {
    return [];
  }

  /** Rejects with ManifestPathError when a path does not exist. */
  async start(sink: ObjectSink, signal: AbortSignal): Promise<void> {
    const files = ManifestFiles.open(this.options.paths);
    const ended = AbortSignal.any([signal, this.stopping.signal]);
    this.work = this.run(files, sink, ended).catch((error: unknown) => {
      if (!ended.aborted) this.options.logger.error({ error }, 'reading manifests ended unexpectedly');
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.work;
  }

  private async run(files: ManifestFiles, sink: ObjectSink, signal: AbortSignal): Promise<void> {
    const { watch = true, logger, now } = this.options;
    const reader = new ManifestReader(files, sink, this.report, now, watch);
    this.reader = reader;
    // Watch before the first pass, so that no change is missed between the two.
    const changes = watch
      ? new FolderWatch(files.folders(), (file) => files.includes(file), logger)
      : undefined;
    try {
      let looking = await reader.pass(signal);
      if (signal.aborted) return;
      for (const kind of MANIFEST_KINDS) sink.synced(kind);
      while (changes && !signal.aborted) {
        await changes.next(Math.max(POLL_MILLISECONDS, looking / POLL_SHARE), signal);
        looking = await reader.pass(signal);
      }
    } finally {
      changes?.close();
    }
  }
}

const NOTHING = { objects: [], rejected: [] };

/** Of a file that is to be read again in every pass. */
const UNREAD = '';

const TORN =
  'is empty, perhaps because it is being written; if it is still empty after a minute, its objects count as deleted';

/** How long a file that held objects must be empty until they are deleted. */
const EMPTY_MILLISECONDS = 60_000;

/** How long to wait before a file that looks incomplete, or is gone, is accepted unchanged. */
const SETTLE_MILLISECONDS = 100;

/**
 * Reads files and delivers the difference from their previous contents. Files are read one at a time. Only signatures, keys
 * and digests are kept.
 *
 * In a pass a file is
 * - unchanged: its signature is the same; it is not read;
 * - complete: it is read, and its difference is delivered;
 * - incomplete: it does not parse, became empty, changed while it was read, or is gone. A writer may be about to finish, so
 *   it is read again after 100 ms and then accepted unchanged: a syntax error is reported and the last valid version is kept; the
 *   objects of a deleted file are deleted, those of an emptied one after a minute. A file that is followed and has not a byte at the
 *   start counts as emptied: what it held may have rules. A file is not deleted, but out of sight, when the path that was given for
 *   it is gone.
 * A file that is unreadable, out of sight, or was emptied less than a minute ago is reported once, and tried again in every pass.
 */
class ManifestReader {
  private readonly index: ManifestIndex;
  private readonly signatures = new Map<string, string>();
  /** Files that held objects, or may have, and were found empty: since when. */
  private readonly emptySince = new Map<string, number>();
  private readonly slice = new TimeSlice();
  private loading = false;
  private isFirstPass = true;

  constructor(
    private readonly files: ManifestFiles,
    private readonly sink: ObjectSink,
    private readonly report: ManifestReport,
    /** Milliseconds since any time. */
    private readonly now: () => number = () => performance.now(),
    /** Whether there are passes after the first. */
    private readonly isFollowing = true,
  ) {
    this.index = new ManifestIndex(files.compare);
  }

  /** Files that differ are being read, and some of their objects may be delivered already. */
  get delivering(): boolean {
    return this.loading;
  }

  /**
   * Brings the receiver up to date. Returns the milliseconds it took to find the changed files. Rejects with an AbortError when
   * aborted while waiting. Delivers nothing after an abort.
   */
  async pass(signal: AbortSignal): Promise<number> {
    const began = performance.now();
    const due: string[] = [];
    for (const file of this.everyFile()) {
      if (fileSignature(file) !== this.signatures.get(file)) due.push(file);
      await this.slice.yieldIfOver();
    }
    const looking = performance.now() - began;

    this.loading = due.length > 0;
    try {
      await this.loadAll(due, signal);
    } finally {
      this.loading = false;
    }
    this.isFirstPass = false;
    return looking;
  }

  private async loadAll(due: readonly string[], signal: AbortSignal): Promise<void> {
    const incomplete: string[] = [];
    for (const file of due) {
      if (signal.aborted) return;
      if (!(await this.load(file, false, signal))) incomplete.push(file);
      await this.slice.yieldIfOver();
    }
    if (incomplete.length > 0) await delay(SETTLE_MILLISECONDS, undefined, { signal });
    for (const file of incomplete) {
      if (signal.aborted) return;
      await this.load(file, true, signal);
      await this.slice.yieldIfOver();
    }
  }

  /** The files that exist and those that existed. */
  private everyFile(): Iterable<string> {
    const { files, unlisted } = this.files.list();
    this.report.folders(unlisted);
    const keep = unlisted.map(({ path }) => `${path}/`);
    const all = new Set(files);
    for (const file of this.signatures.keys())
      if (!keep.some((folder) => file.startsWith(folder))) all.add(file);
    return all;
  }

  /**
   * Reads one file and delivers its difference. Returns false if it is incomplete; with `final` it is accepted unchanged. Delivers
   * nothing after an abort.
   */
  private async load(file: string, final: boolean, signal: AbortSignal): Promise<boolean> {
    const signature = fileSignature(file);
    if (signature === undefined) return this.gone(file, final, signal);
    let contents: ManifestContents;
    try {
      const text = await readManifestFile(file);
      const changing = fileSignature(file) !== signature;
      const emptied = holdsNothing(text) && this.mayHaveHeld(file, text);
      if (!final && (changing || emptied)) return false;
      if (!emptied) this.emptySince.delete(file);
      else if (this.now() - getOrMake(this.emptySince, file, this.now) < EMPTY_MILLISECONDS)
        throw new ManifestFileError(file, TORN);
      contents = await loadManifest(text, this.slice);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return this.gone(file, final, signal);
      const isSyntax = error instanceof ManifestSyntaxError;
      if (isSyntax && !final) return false;
      if (isSyntax) this.report.syntax(file, error, this.index.holds(file));
      else this.report.unreadable(file, error as Error);
      this.signatures.set(file, isSyntax ? signature : UNREAD);
      return true;
    }
    if (signal.aborted) return true;
    this.signatures.set(file, signature);
    await this.deliver(file, contents, signal);
    // Only now: while a problem is reported, rules that no object explains yet are kept.
    this.report.contents(file, contents);
    return true;
  }

  private mayHaveHeld(file: string, text: string): boolean {
    const isTornAtStart = this.isFirstPass && this.isFollowing && text === '';
    return this.index.holds(file) || this.emptySince.has(file) || isTornAtStart;
  }

  private async gone(file: string, final: boolean, signal: AbortSignal): Promise<boolean> {
    const held = this.index.holds(file);
    if (!final && held) return false;
    if (held && this.files.isOutOfSight(file)) {
      // A folder is reported as such.
      if (this.files.isGiven(file))
        this.report.unreadable(file, new ManifestFileError(file, 'no longer exists'));
      return true;
    }
    this.emptySince.delete(file);
    this.signatures.delete(file);
    this.report.forget(file);
    await this.deliver(file, NOTHING, signal);
    return true;
  }

  private async deliver(
    file: string,
    { objects, rejected }: Pick<ManifestContents, 'objects' | 'rejected'>,
    signal: AbortSignal,
  ): Promise<void> {
    const broken = new Set(rejected.map(({ key }) => key));
    // An object without a name may be any of those that the file contained.
    const keep = (key: string): boolean => broken.has(key) || broken.has(undefined);
    const { applied, deleted, reread, duplicates } = this.index.replace(file, objects, keep);
    this.report.duplicates(file, duplicates, this.files.compare);
    for (const { kind, object } of applied) {
      if (signal.aborted) return;
      this.sink.applied(kind, object);
      if (this.slice.isOver) await this.slice.yieldIfOver();
    }
    for (const key of deleted) {
      if (signal.aborted) return;
      const { kind, reference } = parseKey(key);
      this.sink.deleted(kind, reference);
      if (this.slice.isOver) await this.slice.yieldIfOver();
    }
    for (const other of reread) await this.load(other, true, signal);
  }
}
