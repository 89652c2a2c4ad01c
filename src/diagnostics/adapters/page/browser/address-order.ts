/** A text by which addresses and ports are sorted as numbers: `10.2.0.1:80` comes before `10.10.0.1:80`, and `fd00::9` before `fd00::10`. */
export function addressOrder(text: string): string {
  return text.replace(/[\da-f]+/g, (digits) => digits.padStart(5, '0'));
}
