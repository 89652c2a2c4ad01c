import { inspect } from 'node:util';

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** In double quotes, as Go's %q: unprintable characters are escaped, so that they can neither forge lines nor control a terminal. */
export function quote(text: string): string {
  return `"${text.replace(/["\\\p{C}]|(?! )\p{Z}/gu, (character) => SHORT[character] ?? escape(character))}"`;
}

/**
 * A text of others for a line at a terminal: what controls a terminal, ends a line or turns the order of characters is escaped as
 * by `quote`, so that it can neither forge lines nor control the terminal. Everything else stays.
 */
export function printable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, (character) => SHORT[character] ?? escape(character));
}

/** The same for lines that the program has made: the ends of lines and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, escape);
}

/** As JSON on one line, with the control characters that JSON does not escape escaped as well. */
export function jsonText(value: unknown): string {
  return jsonOf(value).replace(/[\p{C}\u2028\u2029]/gu, jsonEscape);
}

/** JSON with the control characters that it does not escape escaped as well. Means the same. Its own ends of lines stay. */
export function printableJson(json: string): string {
  return json.replace(/[^\P{C}\n]|[\u2028\u2029]/gu, jsonEscape);
}

function jsonEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`,
  ).join('');
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    // A circle or a big integer has no JSON.
    return inspect(value, { breakLength: Infinity });
  }
}

function escape(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  // Half of a surrogate pair is not a character.
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
