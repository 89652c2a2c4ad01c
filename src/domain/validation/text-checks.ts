import { parseAddress, specialRange } from '../net/address.js';
import { addressBits, cidrText, parseCidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';

/** The forms of texts of the API server's validation (apimachinery, util/validation). */

/** Why a text is wrong, such as `is not a DNS label`; undefined if it is right. */
export type TextCheck = (text: string) => string | undefined;

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const NAME_PART = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PORT_NAME = /^(?=[^a-z]*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]{0,13}[a-z0-9])?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** An octet of IPv4, or a prefix length, that begins with a zero. */
const LEADING_ZERO = /(?:^|[.:])0\d+\.|\.0\d+(?:\/|$)|\/0\d/;
const LONGEST_SUBDOMAIN = 253;

export const dnsLabel: TextCheck = (text) => (LABEL.test(text) ? undefined : 'is not a DNS label');

export const dnsSubdomain: TextCheck = (text) => (isSubdomain(text) ? undefined : 'is not a DNS subdomain');

/** A domain name of two parts or more, which may end with a dot. */
export const domainName: TextCheck = (text) => {
  const name = withoutFinalDot(text);
  return name.includes('.') && isSubdomain(name) ? undefined : 'is not a full domain name';
};

/** The target of a CNAME. */
export const externalName: TextCheck = (text) => dnsSubdomain(withoutFinalDot(text));

/** `name`, or `example.com/name`. */
export const qualifiedName: TextCheck = (text) => {
  const [name, prefix, ...more] = text.split('/').reverse();
  const good = more.length === 0 && NAME_PART.test(name!) && (prefix === undefined || isSubdomain(prefix));
  return good ? undefined : 'is not a qualified name such as name or example.com/name';
};

/** Keys of annotations may have capitals in their prefix. */
export const annotationKey: TextCheck = (text) => qualifiedName(text.toLowerCase());

export const labelValue: TextCheck = (text) =>
  text === '' || NAME_PART.test(text)
    ? undefined
    : 'is not a label value: at most 63 letters, digits, "-", "_", ".", with a letter or digit at both ends';

export const portName: TextCheck = (text) =>
  PORT_NAME.test(text)
    ? undefined
    : 'is not the name of a port: at most 15 of a-z, 0-9 and "-", with a letter, no "--", and no "-" at an end';

export const time: TextCheck = (text) =>
  TIME.test(text) && !Number.isNaN(Date.parse(text)) ? undefined : 'is not an RFC 3339 time';

export function oneOf(...known: readonly string[]): TextCheck {
  return (text) => (known.includes(text) ? undefined : `is not one of ${known.join(', ')}`);
}

/** An address in a form that all programs understand alike. */
export const address: TextCheck = (text) => {
  const parsed = parseAddress(text);
  if (!parsed) return 'is not an IP address';
  if (parsed.family === 'IPv4' && text.includes(':')) return 'is an IPv4-mapped IPv6 address';
  return LEADING_ZERO.test(text) ? 'has leading zeros' : undefined;
};

/** An address that packets may be sent on to. */
export const reachableAddress: TextCheck = (text) => {
  const wrong = address(text);
  const range = wrong === undefined ? specialRange(parseAddress(text)!) : undefined;
  if (range === undefined) return wrong;
  return `is ${range === 'unspecified' ? 'the' : 'a'} ${range} address`;
};

/** An address of the family that can be reached, in the one form that Kubernetes writes. */
export function endpointAddress(family: IpFamily): TextCheck {
  return (text) => {
    const parsed = parseAddress(text);
    const mapped = parsed?.family === 'IPv4' && text.includes(':');
    if (parsed && parsed.family !== family && !mapped) return `is not an ${family} address`;
    const wrong = reachableAddress(text);
    if (wrong !== undefined) return wrong;
    return parsed!.text === text ? undefined : `is not in canonical form; write ${parsed!.text}`;
  };
}

export const cidr: TextCheck = (text) => {
  const [host = '', length] = text.split('/');
  const parsed = parseAddress(host);
  if (parsed?.family === 'IPv4' && host.includes(':')) return 'is an IPv4-mapped IPv6 network';
  const network = parseCidr(text);
  if (!parsed || !network) return 'is not a CIDR';
  if (LEADING_ZERO.test(text)) return 'has leading zeros';
  const atLength = `${parsed.text}/${length}`;
  const whole = network.prefixLength === addressBits(network.family) || cidrText(network) === atLength;
  return whole ? undefined : `is an address within ${cidrText(network)}; write that`;
};

/** As `cidr`, in the one form that Kubernetes writes. */
export const canonicalCidr: TextCheck = (text) => {
  const wrong = cidr(text);
  if (wrong !== undefined) return wrong;
  const canonical = cidrText(parseCidr(text)!);
  return canonical === text ? undefined : `is not in canonical form; write ${canonical}`;
};

/** With blanks around it. */
export const paddedCidr: TextCheck = (text) => cidr(text.trim());

function isSubdomain(text: string): boolean {
  return text.length <= LONGEST_SUBDOMAIN && SUBDOMAIN.test(text);
}

function withoutFinalDot(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text;
}
