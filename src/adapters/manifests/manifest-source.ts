import type { ClusterSource, ObjectSink, SourceStatus } from '../../application/ports/cluster-source.js';
import type { Logger } from '../../application/ports/logger.js';
import { FolderWatch } from '../files/folder-watch.js';
import { ManifestFiles } from './files/manifest-files.js';
import { MANIFEST_KINDS } from './objects/manifest-kinds.js';
import { ManifestReader } from './manifest-reader.js';
import { ManifestReport } from './manifest-report.js';

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
      let looking = await reader.pass({ files: new Set(), all: true }, signal);
      if (signal.aborted) return;
      for (const kind of MANIFEST_KINDS) sink.synced(kind);
      while (changes && !signal.aborted) {
        const changed = await changes.next(Math.max(POLL_MILLISECONDS, looking / POLL_SHARE), signal);
        const took = await reader.pass(changed, signal);
        if (changed.all) looking = took;
      }
    } finally {
      changes?.close();
    }
  }
}
