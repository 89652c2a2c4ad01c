import { ManifestSyntaxError } from '../manifest-errors.js';
import type { Chunk } from './manifest-chunks.js';

/** The longest text that is parsed as YAML in one go, in characters. It takes half a second; no object may be as large. */
const LONGEST = 4 * 1024 * 1024;
/** The most levels of nesting. Objects of Kubernetes have a dozen. */
export const DEEPEST = 1000;

/** Whether a text is too long to be parsed as YAML in one go. */
export function isLong(text: string): boolean {
  return text.length > LONGEST;
}

/**
 * Rejects what would take much time, before it is parsed.
 * @throws ManifestSyntaxError
 */
export function checkYaml({ text, line }: Chunk): void {
  if (!isLong(text)) return;
  const size = Math.ceil(text.length / 1024 / 1024);
  const reason = `a document of ${size} MiB is too long for YAML; put each object into a document of its own`;
  throw new ManifestSyntaxError(reason, line, undefined);
}

/** The error for what begins at that line. */
export function tooDeep(line: number): ManifestSyntaxError {
  return new ManifestSyntaxError(`nested too deeply; the limit is ${DEEPEST} levels`, line, undefined);
}

/** Whether a text, read as JSON, has too many levels, in a list of lists for example. Brackets in its strings do not count. */
export function isDeepJson(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      if (++depth > DEEPEST) return true;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--;
  }
  return false;
}

/** @param start the place of the opening quote */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
