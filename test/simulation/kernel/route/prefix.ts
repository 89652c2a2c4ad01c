/** Whether an address begins with so many bits of another one of its family. */
export function isWithin(address: Buffer, prefix: Buffer, length: number): boolean {
  if (address.length !== prefix.length) return false;
  const whole = length >>> 3;
  if (address.compare(prefix, 0, whole, 0, whole) !== 0) return false;
  const bits = length & 7;
  return bits === 0 || (address[whole]! ^ prefix[whole]!) >>> (8 - bits) === 0;
}
