/** The text of rules, quoted and checked. */

import { NamedError } from '../model/named-error.js';
import { addressBits, type Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import { isInterfaceName, type LocalTrafficDetector } from '../node/local-traffic-detector.js';
import type { RuleText } from './table.js';

/** The pieces of a rule. iptables-save prints them in this order, wherever they stood when they were written. */
export interface RuleParts {
  readonly source?: string;
  readonly destination?: string;
  readonly input?: string;
  readonly protocol?: string;
  /** Match extensions, in the order in which they were given. */
  readonly matches?: readonly string[];
  /** A chain, or a target with its options; none for a rule that only counts. */
  readonly target?: string;
}

/** Writes a rule down as iptables-save prints it (docs/internals/spec/iptables.md §19). */
export function ruleText({ source, destination, input, protocol, matches, target }: RuleParts): RuleText {
  const words: string[] = [];
  if (source) words.push(source);
  if (destination) words.push(destination);
  if (input) words.push(input);
  if (protocol) words.push(protocol);
  if (matches) words.push(...matches);
  if (target) words.push(`-j ${target}`);
  return words.join(' ');
}

/** From one address, or from a network. */
export function from(network: string | Cidr, family: IpFamily): string {
  return `-s ${networkText(network, family)}`;
}

/** To one address, or to a network. */
export function to(network: string | Cidr, family: IpFamily): string {
  return `-d ${networkText(network, family)}`;
}

/** Packets that come from local pods. */
export function fromLocalPods(detector: LocalTrafficDetector): Pick<RuleParts, 'source' | 'input'> {
  if (detector.kind === 'interface') return { input: `-i ${interfaceText(detector)}` };
  // A network of length 0 is no condition, and is not printed.
  return detector.cidr.prefixLength === 0 ? {} : { source: from(detector.cidr, detector.cidr.family) };
}

/** Packets that do not come from local pods. */
export function notFromLocalPods(detector: LocalTrafficDetector): Pick<RuleParts, 'source' | 'input'> {
  if (detector.kind === 'interface') return { input: `! -i ${interfaceText(detector)}` };
  return { source: `! ${from(detector.cidr, detector.cidr.family)}` };
}

export const MAX_PORT = 65535;
const ADDRESS = /^[0-9a-f:.]+$/;

/** @throws UnsafeRuleTextError */
export function addressText(address: string): string {
  if (!ADDRESS.test(address)) throw new UnsafeRuleTextError('address', address);
  return address;
}

/** @throws UnsafeRuleTextError */
export function numberText(what: string, value: number, most: number): string {
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new UnsafeRuleTextError(what, String(value));
  return String(value);
}

const PROTOCOL = /^(?:tcp|udp|sctp)$/;

/** @throws UnsafeRuleTextError */
export function protocolText(protocol: string): string {
  const text = protocol.toLowerCase();
  if (!PROTOCOL.test(text)) throw new UnsafeRuleTextError('protocol', protocol);
  return text;
}

function networkText(network: string | Cidr, family: IpFamily): string {
  if (typeof network === 'string') return `${addressText(network)}/${addressBits(family)}`;
  const length = numberText('prefix length', network.prefixLength, addressBits(family));
  return `${addressText(network.address)}/${length}`;
}

function interfaceText({ name, wildcard }: LocalTrafficDetector & { kind: 'interface' }): string {
  if (!isInterfaceName(name)) throw new UnsafeRuleTextError('interface name', name);
  return wildcard ? `${name}+` : name;
}

/** Texts that iptables-save prints without quotes (xtables_save_string in libxtables). */
const BARE = /^[-\w]+$/;
const ESCAPED = /["\\']/g;

/** XT_MAX_COMMENT_LEN, less the final zero. */
const MAX_COMMENT_BYTES = 255;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/;

/** A text as iptables-save prints it: in quotes unless it is a plain word, quotes and backslashes escaped. */
export function quoted(text: string): string {
  return BARE.test(text) ? text : `"${text.replace(ESCAPED, '\\$&')}"`;
}

/**
 * The comment match. What is longer than the kernel takes is cut off.
 * @throws UnsafeRuleTextError on control characters, which would end the line
 */
export function comment(text: string): string {
  checkComment(text);
  return `-m comment --comment ${quoted(shortened(text))}`;
}

/** @throws UnsafeRuleTextError where `comment` does */
export function checkComment(text: string): void {
  if (CONTROL.test(text)) throw new UnsafeRuleTextError('comment', text);
}

const encoder = new TextEncoder();

function shortened(text: string): string {
  if (text.length * 3 <= MAX_COMMENT_BYTES || encoder.encode(text).length <= MAX_COMMENT_BYTES) return text;
  let length = 0;
  let kept = '';
  for (const character of text) {
    length += encoder.encode(character).length;
    if (length > MAX_COMMENT_BYTES) break;
    kept += character;
  }
  return kept;
}

/** Text that cannot be written into a rule as what it claims to be. The value is quoted and shortened. */
export class UnsafeRuleTextError extends NamedError {
  constructor(
    readonly what: string,
    readonly text: string,
  ) {
    const shown = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
    super(`${what} ${shown} cannot be written to iptables`);
  }
}
