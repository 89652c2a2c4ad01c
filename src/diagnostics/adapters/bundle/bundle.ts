/** A support bundle: parts that are collected with limits and without secrets, and the archive that they are written to. */

import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Pack } from 'tar-stream';
import { printableJson, printableLines } from '../../../adapters/process/quote.js';
import { errorMessage } from '../../../application/error-message.js';
import { NamedError } from '../../../domain/model/named-error.js';
import { fields, list, number, oneOf, optional, text, time } from '../../../domain/shape.js';
import { redactedText, redactedValue } from '../../domain/redaction.js';

/** One file of a bundle, before it is collected. */
export interface BundlePart {
  /** In the folder of its node or of the cluster: `rules/iptables-save.txt`. */
  readonly path: string;
  /** The command, file or request that it comes from, for people. */
  readonly source: string;
  /** Milliseconds; missing: 10 s. */
  readonly timeout?: number;
  /** Of a text that is too long the end stays, as of a log. */
  readonly keepsEnd?: true;
  /**
   * A text, or a value that is written as JSON.
   * @throws NotApplicableError if this node or cluster has no such part; any other error: the part is missing
   */
  collect(signal: AbortSignal): Promise<unknown>;
}

/** A part that this node or cluster does not have, such as virtual servers without IPVS. */
export class NotApplicableError extends NamedError {}

const STATES = ['complete', 'truncated', 'missing', 'not-applicable'] as const;

/** A collected part, as a line of the index, with its content. */
export type BundleFile = ReturnType<typeof bundleFile>;
const bundleFile = fields({
  path: text,
  source: text,
  state: oneOf(...STATES),
  /** Missing for complete ones. */
  reason: optional(text),
  durationSeconds: number,
  /** Missing for missing ones. */
  content: optional(text),
});

/** The bundle of one node, as its command prints it with `-o json`. */
export type NodeBundle = ReturnType<typeof nodeBundle>;
export const nodeBundle = fields({
  /** The name of the Node object. */
  node: text,
  /** Of the program. */
  version: text,
  /** When it was collected. */
  time,
  files: list(bundleFile),
});

/** Milliseconds. */
const TIMEOUT = 10_000;
/** Characters of a file. */
const LARGEST_FILE = 8 * 1024 * 1024;
/** Characters of all files of a node: they pass through the API server as one answer. */
const LARGEST_NODE = 40 * 1024 * 1024;
/** Milliseconds for all parts of a node. */
const DEADLINE = 100_000;
/** Parts that are collected at a time. */
const PARALLEL = 3;

/**
 * Collects parts, each within its limits. A part that fails or takes too long is missing, and does not stop the others.
 * @param deadline milliseconds for all of them
 */
export async function collectParts(
  parts: readonly BundlePart[],
  deadline = DEADLINE,
): Promise<readonly BundleFile[]> {
  const end = performance.now() + deadline;
  const files: BundleFile[] = [];
  const waiting = parts.entries();
  let left = LARGEST_NODE;
  const worker = async (): Promise<void> => {
    for (const [index, part] of waiting) {
      const collected = await collectPart(part, end - performance.now());
      const file = cut(collected, Math.min(left, LARGEST_FILE), part.keepsEnd);
      left -= file.content?.length ?? 0;
      files[index] = file;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return files;
}

async function collectPart(part: BundlePart, left: number): Promise<BundleFile> {
  const { path, source } = part;
  const begin = performance.now();
  const made = (rest: Pick<BundleFile, 'state' | 'reason' | 'content'>): BundleFile => ({
    path,
    source,
    durationSeconds: Math.round(performance.now() - begin) / 1000,
    ...rest,
  });
  try {
    const value = await within(Math.max(0, Math.min(part.timeout ?? TIMEOUT, left)), (signal) =>
      part.collect(signal),
    );
    return made({ state: 'complete', content: contentOf(path, value) });
  } catch (error) {
    const state = error instanceof NotApplicableError ? 'not-applicable' : 'missing';
    return made({ state, reason: redactedText(errorMessage(error)) });
  }
}

/** The result of the work; rejects after a time in milliseconds, also if the work continues. */
async function within<T>(milliseconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const expired = new AbortController();
  const late = new Error(`not complete within ${Math.round(milliseconds) / 1000} s`);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(late);
      expired.abort(late);
    }, milliseconds);
  });
  try {
    return await Promise.race([timeout, work(expired.signal)]);
  } finally {
    clearTimeout(timer);
  }
}

function cut(file: BundleFile, largest: number, keepsEnd = false): BundleFile {
  const { length } = file.content ?? '';
  if (file.content === undefined || length <= largest) return file;
  return {
    ...file,
    state: 'truncated',
    reason: `it has ${length} characters, of which the ${keepsEnd ? 'last' : 'first'} ${largest} are kept`,
    content: keepsEnd ? file.content.slice(length - largest) : file.content.slice(0, largest),
  };
}

function contentOf(path: string, value: unknown): string {
  if (typeof value === 'string') return safeText(path, value);
  return `${printableJson(JSON.stringify(redactedValue(value), undefined, 2) ?? 'null')}\n`;
}

/** Without secrets, and without anything that controls a terminal. */
function safeText(path: string, content: string): string {
  return (path.endsWith('.json') ? printableJson : printableLines)(redactedText(content));
}

/** The archive cannot be written. */
export class BundleArchiveError extends NamedError {
  static of(path: string, cause: unknown): BundleArchiveError {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const reason = isThere ? 'there is such a file' : errorMessage(cause);
    return new BundleArchiveError(
      `cannot write ${path}: ${reason}; name another file, or - for standard output`,
      { cause },
    );
  }
}

/** A line of the index of an archive. */
type IndexedFile = Omit<BundleFile, 'content'> & { readonly sizeBytes?: number };

/** What an archive contains. */
export interface BundleIndex {
  readonly version: string;
  readonly time: string;
  readonly files: readonly IndexedFile[];
}

/** node-2 before node-10. */
const ORDER = new Intl.Collator('en', { numeric: true });

/** A compressed archive that is written file by file. Only its owner can read it. */
export class BundleArchive {
  private readonly files: IndexedFile[] = [];
  private readonly written: Promise<void>;
  private readonly fail = (error: unknown): never => {
    throw BundleArchiveError.of(this.path, error);
  };

  private constructor(
    readonly path: string,
    private readonly facts: Omit<BundleIndex, 'files'>,
    private readonly tar: Pack,
    out: NodeJS.WritableStream,
  ) {
    const source = tar as unknown as NodeJS.ReadableStream;
    this.written = pipeline(source, createGzip(), out, { end: path !== '-' });
    this.written.catch(() => undefined);
  }

  /**
   * @param path `-`: standard output
   * @throws BundleArchiveError, also if there is such a file
   */
  static async open(path: string, facts: Omit<BundleIndex, 'files'>): Promise<BundleArchive> {
    const { default: tar } = await import('tar-stream');
    return new BundleArchive(path, facts, tar.pack(), path === '-' ? process.stdout : await newFile(path));
  }

  /** Adds what was collected about a node or the cluster, in a folder of this name. @throws BundleArchiveError */
  async add(folder: string, files: readonly BundleFile[]): Promise<void> {
    for (const { content, ...file } of files) {
      const path = `${folder}/${file.path}`.split('/').map(fileName).join('/');
      // What another program sent passes the same redaction as what was collected here.
      const kept = content === undefined ? undefined : safeText(file.path, content);
      if (kept !== undefined) await this.write(path, kept);
      this.files.push({ ...file, path, ...(kept !== undefined && { sizeBytes: Buffer.byteLength(kept) }) });
    }
  }

  /** Writes the index and ends the archive. @throws BundleArchiveError */
  async finish(): Promise<BundleIndex> {
    const files = this.files.sort((a, b) => ORDER.compare(a.path, b.path));
    const index: BundleIndex = { ...this.facts, files };
    await this.write('index.json', `${printableJson(JSON.stringify(index, undefined, 2))}\n`);
    await this.write('README.md', printableLines(readme(index)));
    this.tar.finalize();
    await this.written.catch(this.fail);
    return index;
  }

  /** Removes what has been written. */
  async discard(): Promise<void> {
    this.tar.destroy();
    await this.written.catch(() => undefined);
    if (this.path !== '-') await rm(this.path, { force: true });
  }

  private async write(name: string, content: string): Promise<void> {
    const header = { name, mode: 0o600, mtime: new Date(this.facts.time) };
    const taken = new Promise<void>((resolve, reject) => {
      this.tar
        .entry(header, Buffer.from(content), (error) => (error ? reject(error) : resolve()))
        .on('error', reject);
    });
    // If the archive fails, its own reason comes first.
    const orFail = taken.catch(async (error: Error) => {
      this.tar.destroy(error);
      await this.written;
    });
    await Promise.race([this.written, orFail]).catch(this.fail);
  }
}

/** @throws BundleArchiveError */
async function newFile(path: string): Promise<NodeJS.WritableStream> {
  try {
    return (await open(path, 'wx', 0o600)).createWriteStream();
  } catch (error) {
    throw BundleArchiveError.of(path, error);
  }
}

/** Parts that could not be collected. */
export function missingFiles({ files }: BundleIndex): readonly IndexedFile[] {
  return files.filter(({ state }) => state === 'missing');
}

/** `kubeproxy-dump-2026-11-28T203000Z.tar.gz` */
export function archiveName(time: string): string {
  return `kubeproxy-dump-${time.replace(/\.\d+|:/g, '')}.tar.gz`;
}

/** Whatever a node or a file is called, it stays in the folder. */
function fileName(name: string): string {
  return name.replace(/[^\w.-]|^\.+/g, '_') || '_';
}

function readme({ version, time: at, files }: BundleIndex): string {
  const cell = (value: string): string => value.replace(/[|\n]/g, ' ');
  const rows = files.map(
    ({ path, source, state, reason }) => `| ${[path, source, state, reason ?? ''].map(cell).join(' | ')} |`,
  );
  return `# Support bundle of kube-proxy-ts

Collected at ${at} by version ${version}. \`index.json\` has the same list for programs.

Tokens, passwords, keys, certificates, values of environment variables and copies of applied objects have been removed. Names of
Services, pods and nodes and their addresses are in it: look through it before you send it.

| file | source | state | reason |
|---|---|---|---|
${rows.join('\n')}
`;
}
