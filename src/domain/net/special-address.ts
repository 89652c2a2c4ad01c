import { isLoopback, type Address } from './address.js';

/** The special range that contains the address, if any. Endpoints and external IPs must not be in one (ValidateNonSpecialIP). */
export function specialRange(address: Address): string | undefined {
  const { family, text } = address;
  const isIPv4 = family === 'IPv4';
  if (text === (isIPv4 ? '0.0.0.0' : '::')) return 'unspecified';
  if (isLoopback(address)) return 'loopback';
  if (isIPv4 ? text.startsWith('169.254.') : /^fe[89ab].:/.test(text)) return 'link-local';
  if (isIPv4 ? text.startsWith('224.0.0.') : /^ff.2:/.test(text)) return 'link-local multicast';
  return undefined;
}
