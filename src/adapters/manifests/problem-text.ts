import type { RejectedObject } from './objects/load-manifest.js';
import type { ManifestSyntaxError } from './manifest-errors.js';

/** `file:line: kind namespace/name: field: what is wrong`. */
export function rejectedText(file: string, { line, subject, problem }: RejectedObject): string {
  return `${placeOf(file, line)}: ${subject}: ${problem}`;
}

export function syntaxText(file: string, error: ManifestSyntaxError): string {
  return `${error.place(file)}: ${error.message}`;
}

/** For an unreadable file or folder. */
export function unreadText(path: string, error: Error): string {
  return `${path}: ${error.message}`;
}

/** `file:line`, if the line is known. */
export function placeOf(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}
