import type { LeftOut } from './objects/load-manifest.js';
import type { ManifestSyntaxError } from './manifest-errors.js';

/** `file:line: kind namespace/name: field: what is wrong`. */
export function leftOutText(file: string, { line, subject, problem }: LeftOut): string {
  return `${placeOf(file, line)}: ${subject}: ${problem}`;
}

export function syntaxText(file: string, error: ManifestSyntaxError): string {
  return `${error.place(file)}: ${error.message}`;
}

/** Of a file, or a folder, that cannot be read at all. */
export function unreadText(path: string, error: Error): string {
  return `${path}: ${error.message}`;
}

/** `file:line`, as far as the line is known. */
export function placeOf(file: string, line: number | undefined): string {
  return line === undefined ? file : `${file}:${line}`;
}
