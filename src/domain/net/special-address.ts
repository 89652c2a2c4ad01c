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

/** Why no Service may have the address, whatever the API server accepts: packets to it are not meant for one machine elsewhere. */
export function unservableRange(address: Address): string | undefined {
  const { family, text } = address;
  if (text === (family === 'IPv4' ? '0.0.0.0' : '::')) return 'unspecified';
  if (isLoopback(address)) return 'loopback';
  if (text === '255.255.255.255') return 'broadcast';
  const isMulticast = family === 'IPv4' ? MULTICAST.test(text) : text.startsWith('ff');
  return isMulticast ? 'multicast' : undefined;
}

/** Why no endpoint may have the address: as no Service may, and link-local, as an API server has it. */
export function unreachableRange(address: Address): string | undefined {
  return unservableRange(address) ?? specialRange(address);
}

/** 224.0.0.0/4. */
const MULTICAST = /^2(?:2[4-9]|3\d)\./;
