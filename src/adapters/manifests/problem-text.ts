import type { RejectedObject } from './objects/load-manifest.js';
import { ManifestSyntaxError } from './manifest-errors.js';

/** `file:line: kind namespace/name: field: what is wrong`. */
export function rejectedText(file: string, { line, subject, problem }: RejectedObject): string {
  return `${placeOf(file, line)}: ${subject}: ${problem}`;
}

/** For a file that cannot be read or parsed. */
export function unreadText(file: string, error: Error): string {
  return `${error instanceof ManifestSyntaxError ? error.place(file) : file}: ${error.message}`;
}

/** `file:line`, if the line is known. */
export function placeOf(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}
