/**
 * Text of a packet priority as nft prints its type classid: `major:minor` in hex, `none` for 0, `root` for all ones.
 * Both numbers are always written: nft reads neither `:3` nor `4:`.
 */
export function formatPriority(value: number): string {
  if (value === 0) return 'none';
  if (value === 0xffffffff) return 'root';
  const major = value >>> 16;
  const minor = value & 0xffff;
  return `${major.toString(16)}:${minor.toString(16)}`;
}

/** The number of a text by formatPriority. */
export function parsePriority(text: string): number {
  if (text === 'none') return 0;
  if (text === 'root') return 0xffffffff;
  const [major, minor] = text.split(':') as [string, string];
  return parseInt(major, 16) * 0x10000 + parseInt(minor, 16);
}
