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

/** In double quotes, as Go's %q: what cannot be printed is escaped, so that it can neither forge lines nor steer a terminal. */
export function quote(text: string): string {
  return `"${text.replace(/["\\\p{C}]|(?! )\p{Z}/gu, (character) => SHORT[character] ?? escape(character))}"`;
}

function escape(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  // Half of a surrogate pair is no character.
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
