import fc from 'fast-check';

/**
 * Any text at all, half of its characters ASCII, at most `maxLength` of them. In place of `fc.string({ unit: 'binary' })`, which takes
 * more than a second before its first text.
 */
export function anyText(maxLength = 10): fc.Arbitrary<string> {
  const point = fc.oneof(fc.nat(0x7f), fc.nat(0x10ffff));
  return fc.array(point, { maxLength }).map((points) => String.fromCodePoint(...points));
}
