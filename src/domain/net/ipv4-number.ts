const DOT = 46;
const ZERO = 48;

/** An IPv4 address in canonical text as a number of 32 bits; undefined for an IPv6 address. */
export function ipv4Number(text: string): number | undefined {
  let number = 0;
  let octet = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      number = number * 256 + octet;
      octet = 0;
    } else {
      const digit = code - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      octet = octet * 10 + digit;
    }
  }
  return number * 256 + octet;
}

/** Its canonical text. */
export function ipv4Text(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`;
}
