import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFile,
  readFileSync,
  statSync,
  type Stats,
} from 'node:fs';
import { promisify } from 'node:util';
import { ManifestFileError } from '../manifest-errors.js';

/** The largest file that is read, in MiB. YAML takes seven times its size in memory while it is read. */
const LARGEST_FILE = 32;
/** A file up to this size, in bytes, is read synchronously; asynchronously it would take several times longer. */
const SMALL_FILE = 256 * 1024;

/**
 * The text of a regular file; links are followed. Never waits for a writer, as reading a FIFO would, and never opens devices.
 * @throws ManifestFileError for anything else, and for a file that is too large
 * @throws the system's error
 */
export async function readManifestFile(file: string): Promise<string> {
  check(file, statSync(file));
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    // The path may name another file by now.
    const stats = fstatSync(descriptor);
    check(file, stats);
    if (stats.size <= SMALL_FILE) return readFileSync(descriptor, 'utf8');
    return await promisify(readFile)(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function check(file: string, stats: Stats): void {
  if (!stats.isFile())
    throw new ManifestFileError(file, `is ${typeOf(stats)}, not a regular file; ignoring it`);
  const size = stats.size / 1024 / 1024;
  if (size > LARGEST_FILE) {
    const limit = `the limit is ${LARGEST_FILE} MiB; split it`;
    throw new ManifestFileError(file, `has ${Math.ceil(size)} MiB; ${limit}`);
  }
}

function typeOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  if (stats.isDirectory()) return 'a folder';
  return 'a device';
}
