/** pino's JSON line as one for people: `19:04:12.345 WARN  what happened  fact=value other="two words"`. */
export function textLine(line: string): string {
  const { level, time, message, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 23);
  const shown = Object.entries(facts).map(([name, value]) => `${name}=${factText(value)}`);
  return (
    [`${clock} ${String(level).toUpperCase().padEnd(5)} ${oneLine(String(message ?? ''))}`, ...shown].join(
      '  ',
    ) + '\n'
  );
}

function factText(value: unknown): string {
  if (isError(value)) return factText(value.message);
  if (typeof value !== 'string') return quoted(value);
  return /^[^\s"=\p{C}]+$/u.test(value) ? value : quoted(value);
}

/** As JSON, with the control characters that JSON lets through escaped too. */
function quoted(value: unknown): string {
  return JSON.stringify(value).replace(
    /\p{C}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Control characters could forge lines or steer a terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}

function isError(value: unknown): value is { readonly message: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
}
