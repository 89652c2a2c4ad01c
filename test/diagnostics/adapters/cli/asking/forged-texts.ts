/** Ends the line and makes another one, clears what is above it, and turns the order of what follows. */
const FORGERY = ' \u001b[2K\r\u009b1A\nforged\u202e\u2028\ue000';

/** The value with each of its texts, in turn, followed by the forgery. */
export function* withEachTextForged(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield value + FORGERY;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value))
    for (const other of withEachTextForged(part))
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
}

/** The text without the colors of tones, and nothing else less. */
export function withoutColors(text: string): string {
  return [31, 32, 33, 39].reduce((left, color) => left.replaceAll(`\u001b[${color}m`, ''), text);
}
