import { ManifestSyntaxError } from '../manifest-errors.js';
import type { Chunk } from './manifest-chunks.js';

/** The longest text that is parsed as YAML in one go, in characters. It takes half a second; no object may be as large. */
const LONGEST = 4 * 1024 * 1024;
/** Objects of Kubernetes have a dozen levels. */
const DEEPEST = 1000;
const LEVELS_IN_A_LINE = ['- '.repeat(DEEPEST), '? '.repeat(DEEPEST)];

/** Whether a text is too long to be parsed as YAML in one go. */
export function isLong(text: string): boolean {
  return text.length > LONGEST;
}

/**
 * Refuses what would take much time or memory, before it is parsed.
 * @throws ManifestSyntaxError
 */
export function checkYaml(chunk: Chunk): void {
  const { text, line } = chunk;
  if (isLong(text)) {
    const size = Math.ceil(text.length / 1024 / 1024);
    const reason = `a document of ${size} MiB is too long for YAML; put each object into a document of its own`;
    throw new ManifestSyntaxError(reason, line, undefined);
  }
  checkDepth(chunk);
}

/**
 * Brackets within texts count as well: they come in pairs, or are few.
 * @throws ManifestSyntaxError
 */
export function checkDepth({ text, line }: Chunk): void {
  if (isDeep(text) || LEVELS_IN_A_LINE.some((levels) => text.includes(levels))) throw tooDeep(line);
}

/** The error for what begins at that line. */
export function tooDeep(line: number): ManifestSyntaxError {
  return new ManifestSyntaxError(`nested too deeply; the limit is ${DEEPEST} levels`, line, undefined);
}

function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      if (++depth > DEEPEST) return true;
    } else if ((code === CLOSING_BRACKET || code === CLOSING_BRACE) && depth > 0) depth--;
  }
  return false;
}

const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
