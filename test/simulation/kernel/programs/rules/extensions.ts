import { parseAddress } from '../../../../../src/domain/net/address.js';
import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';

/** What a rule has said before an option of an extension is read. */
export interface RuleContext {
  readonly family: IpFamily;
  readonly protocol: string | undefined;
  /** The family of a set; undefined where the kernel has no such set. */
  readonly setFamily: (name: string) => IpFamily | 'any' | undefined;
}

/** The value of an option as iptables-save prints it. Throws ParameterProblem. */
type Reader = (text: string, context: RuleContext) => string;

/** What follows an option: nothing, a value that is printed as given, or one that is read. */
type Option =
  | 'flag'
  | 'value'
  | Reader
  /** Takes two words, or is another form of an option. */
  | { readonly words?: 2; readonly as?: string; readonly read: Reader };

/** A match or a target that the tools know, as far as it is simulated. */
export interface Extension {
  readonly name: string;
  /** In the order in which they are printed. */
  readonly options: Readonly<Record<string, Option>>;
  /** One of these must be given. */
  readonly needs?: readonly string[];
  /** What is printed though it was not given. */
  readonly defaults?: (context: RuleContext) => Readonly<Record<string, string>>;
  /** The kernel takes it in this table only. */
  readonly table?: string;
  /** The kernel takes it on the way from these built-in chains only. */
  readonly hooks?: readonly string[];
  /** The kernel takes it with this protocol only. */
  readonly protocol?: string;
}

/** The tool does not understand its input. It exits with 2, before the kernel has seen any of it. */
export class ParameterProblem extends Error {
  override readonly name = 'ParameterProblem';

  /** @param isBare the tool prints it without its own name and version before it */
  constructor(
    message: string,
    readonly isBare = false,
  ) {
    super(message);
  }
}

const PLAIN = /^[-\w]+$/;
/** XT_MAX_COMMENT_LEN, less the final zero. */
const MAX_COMMENT_BYTES = 255;

function comment(text: string): string {
  const cut = Buffer.from(text).subarray(0, MAX_COMMENT_BYTES).toString();
  return PLAIN.test(cut) ? cut : `"${cut.replace(/["\\']/g, '\\$&')}"`;
}

function port(text: string): string {
  if (!/^\d+$/.test(text) || Number(text) > 65535)
    throw new ParameterProblem(`invalid port/service \`${text}' specified`);
  return String(Number(text));
}

const PORTS = { sport: port, dport: port } as const;

/** Names out of a list, printed in the order of the list. */
const oneOrMoreOf =
  (known: readonly string[], problem: string): Reader =>
  (text) => {
    const names = text.split(',').map((name) => name.toUpperCase());
    const wrong = names.find((name) => !known.includes(name));
    if (wrong !== undefined) throw new ParameterProblem(`${problem} "${wrong}"`);
    return known.filter((name) => names.includes(name)).join(',');
  };
const states = (problem: string) =>
  oneOrMoreOf(['INVALID', 'NEW', 'RELATED', 'ESTABLISHED', 'UNTRACKED', 'SNAT', 'DNAT'], problem);
const addressTypes = oneOrMoreOf(
  ['UNSPEC', 'UNICAST', 'LOCAL', 'BROADCAST', 'ANYCAST', 'MULTICAST', 'BLACKHOLE', 'UNREACHABLE', 'PROHIBIT'],
  'addrtype: bad type',
);

const hexadecimal = (value: number): string => `0x${(value >>> 0).toString(16)}`;

/** A value of 32 bits and a mask: `0x4000/0x4000`. */
function masked(text: string, option: string): readonly [value: number, mask: number | undefined] {
  const numbers = text.split('/').map((part) => {
    if (!/^(?:0x[0-9a-f]+|\d+)$/i.test(part) || Number(part) > 0xffffffff)
      throw new ParameterProblem(`${option}: bad integer value, or out of range.\n`);
    return Number(part);
  });
  return [numbers[0]!, numbers[1]];
}

/** A way to set the mark, which is printed as `--set-xmark`. */
const marking = (change: (value: number, mask: number) => readonly [number, number]): Option => ({
  as: 'set-xmark',
  read(text) {
    const [value, mask = 0xffffffff] = masked(text, 'MARK');
    return change(value, mask).map(hexadecimal).join('/');
  },
});

function withPorts({ protocol = '' }: RuleContext): void {
  if (!['tcp', 'udp', 'sctp'].includes(protocol))
    throw new ParameterProblem('Need TCP, UDP, SCTP or DCCP with port specification');
}

/** An address, with a port behind it or without. */
const place: Reader = (text, context) => {
  const isIPv4 = context.family === 'IPv4';
  const [, first, number, alone] =
    (isIPv4 ? /^([^:]*)(?::(.*))?$/ : /^(?:\[(.*)\]:(.*)|(.*))$/).exec(text) ?? [];
  const given = first ?? alone ?? '';
  const address = given === '' ? { family: context.family, text: '' } : parseAddress(given);
  if (address?.family !== context.family) throw new ParameterProblem(`Bad IP address "${given}"`);
  if (number === undefined) return address.text;
  withPorts(context);
  if (!/^\d+$/.test(number) || Number(number) < 1 || Number(number) > 65535)
    throw new ParameterProblem(`Port \`${number}' not valid`);
  return isIPv4 ? `${address.text}:${number}` : `[${address.text}]:${number}`;
};

function matchSet(text: string, { family, setFamily }: RuleContext): string {
  const [name = '', directions = ''] = text.split(' ');
  const found = setFamily(name);
  if (found === undefined) throw new ParameterProblem(`Set ${name} doesn't exist.\n`);
  if (found !== 'any' && found !== family)
    throw new ParameterProblem(`The protocol family of set ${name} is ${found}, which is not applicable.\n`);
  if (!/^(?:src|dst)(?:,(?:src|dst))*$/.test(directions))
    throw new ParameterProblem(`You must spececify (the comma separated list of) 'src' or 'dst'.`);
  return text;
}

function probability(text: string): string {
  const [value, unit] = [Number(text), 0x80000000];
  if (!(value >= 0 && value <= 1))
    throw new ParameterProblem('statistic: bad value for option "--probability", or out of range (0-1).\n');
  return (Math.round(unit * value) / unit).toFixed(11);
}

/** Printed as numbers. */
const VIRTUAL_PROTOCOLS: Readonly<Record<string, string>> = { tcp: '6', udp: '17', sctp: '132' };
const REJECT_TYPES: Readonly<Record<IpFamily, readonly string[]>> = {
  IPv4: ['icmp-port-unreachable', 'tcp-reset'],
  IPv6: ['icmp6-port-unreachable', 'tcp-reset'],
};

const named = (extensions: readonly Extension[]): ReadonlyMap<string, Extension> =>
  new Map(extensions.map((extension) => [extension.name, extension]));

export const MATCHES = named([
  { name: 'tcp', protocol: 'tcp', options: PORTS },
  { name: 'udp', protocol: 'udp', options: PORTS },
  { name: 'sctp', protocol: 'sctp', options: PORTS },
  { name: 'comment', options: { comment }, needs: ['comment'] },
  {
    name: 'conntrack',
    options: {
      ctstate: states('Bad ctstate'),
    },
  },
  { name: 'state', options: { state: states('Bad state') } },
  {
    name: 'mark',
    needs: ['mark'],
    options: {
      mark(text) {
        const [value, mask = 0xffffffff] = masked(text, 'mark');
        return mask === 0xffffffff ? hexadecimal(value) : `${hexadecimal(value)}/${hexadecimal(mask)}`;
      },
    },
  },
  { name: 'statistic', options: { mode: 'value', probability }, needs: ['mode'] },
  {
    name: 'recent',
    needs: ['set', 'rcheck'],
    options: {
      ...{ set: 'flag', rcheck: 'flag', seconds: 'value', reap: 'flag', name: 'value', mask: 'value' },
      rsource: 'flag',
    },
    defaults: ({ family }) => ({
      name: 'DEFAULT',
      mask: family === 'IPv4' ? '255.255.255.255' : 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
      rsource: '',
    }),
  },
  {
    name: 'addrtype',
    needs: ['src-type', 'dst-type'],
    options: { 'src-type': addressTypes, 'dst-type': addressTypes },
  },
  { name: 'nfacct', options: { 'nfacct-name': 'value' }, needs: ['nfacct-name'] },
  { name: 'set', options: { 'match-set': { words: 2, read: matchSet } } },
  {
    name: 'ipvs',
    options: {
      vproto: (text) => VIRTUAL_PROTOCOLS[text] ?? text,
      ...{ vaddr: 'value', vport: 'value', ipvs: 'flag' },
    },
  },
  { name: 'physdev', options: { 'physdev-is-in': 'flag' } },
]);

export const TARGETS = named([
  {
    name: 'REJECT',
    table: 'filter',
    options: {
      'reject-with'(type, { family }) {
        if (!REJECT_TYPES[family].includes(type)) throw new ParameterProblem(`unknown reject type "${type}"`);
        return type;
      },
    },
    defaults: ({ family }) => ({ 'reject-with': REJECT_TYPES[family][0]! }),
  },
  {
    name: 'DNAT',
    table: 'nat',
    hooks: ['PREROUTING', 'OUTPUT'],
    options: { 'to-destination': place },
    needs: ['to-destination'],
  },
  {
    name: 'MASQUERADE',
    table: 'nat',
    hooks: ['POSTROUTING'],
    options: { random: 'flag', 'random-fully': 'flag' },
  },
  {
    name: 'REDIRECT',
    table: 'nat',
    hooks: ['PREROUTING', 'OUTPUT'],
    options: { 'to-ports': (text, context) => (withPorts(context), text) },
  },
  {
    name: 'MARK',
    needs: ['set-xmark'],
    options: {
      'set-xmark': marking((value, mask) => [value, mask]),
      'set-mark': marking((value, mask) => [value, value | mask]),
      'or-mark': marking((value) => [value, value]),
      'and-mark': marking((value) => [0, ~value]),
      'xor-mark': marking((value) => [value, 0]),
    },
  },
]);

/** What the kernel itself does with a packet. */
export const VERDICTS: ReadonlySet<string> = new Set(['ACCEPT', 'DROP', 'RETURN', 'QUEUE']);
