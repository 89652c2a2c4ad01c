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

/** The largest file that is read, in bytes; V8 cannot hold a text of much more than twice that. */
const LONGEST_FILE = 256 * 1024 * 1024;
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
  if (stats.size > LONGEST_FILE) {
    const size = Math.ceil(stats.size / 1024 / 1024);
    throw new ManifestFileError(file, `has ${size} MiB; the limit is 256 MiB; split it`);
  }
}

function typeOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  if (stats.isDirectory()) return 'a folder';
  return 'a device';
}
