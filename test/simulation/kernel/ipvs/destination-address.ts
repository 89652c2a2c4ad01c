/** What the kernel takes for a destination that rewrites packets: no multicast, broadcast or link-local address. */
export function canBeDestination(address: string): boolean {
  if (!address.includes(':')) {
    const first = Number(address.split('.', 1)[0]);
    return first > 0 && first < 224;
  }
  return address !== '::' && !/^(ff|fe[89ab])/.test(address);
}
