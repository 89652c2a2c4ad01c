/** Numbers as Go's flags read them. */
const DECIMAL = /^[+-]?\d+$/;
const LITERAL =
  /^([+-]?)(?:(0[xX](?:_?[\da-fA-F])+)|0[oO]?((?:_?[0-7])+)|(0[bB](?:_?[01])+)|(0|[1-9](?:_?\d)*))$/;
const FLOAT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const LARGEST_FLOAT32 = 3.4028234663852886e38;

/** A decimal integer; NaN when it is none. */
export function parseDecimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : NaN;
}

/** An integer as Go writes it in programs: decimal, `0x1f`, `0o17` or `017`, `0b11`, with `_` between digits; or NaN. */
export function parseInteger(text: string): number {
  const parts = LITERAL.exec(text);
  if (!parts) return NaN;
  const [, sign, hex, octal, binary, decimal] = parts;
  const literal = hex ?? (octal === undefined ? (binary ?? decimal!) : `0o${octal}`);
  const size = Number(literal.replaceAll('_', ''));
  return sign === '-' && size !== 0 ? -size : size;
}

/** A decimal number that a float32 can hold; NaN when it is none. */
export function parseFloat32(text: string): number {
  const number = FLOAT.test(text) ? Number(text) : NaN;
  return Math.abs(number) <= LARGEST_FLOAT32 ? number : NaN;
}
