import { parseAddress } from '../../../../../src/domain/net/address.js';
import { maskAddress } from '../../../../../src/domain/net/cidr.js';
import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import type { IpSetContents } from './ip-sets.js';

/** A member cannot be read; the message is the tool's. */
export class MemberProblem extends Error {
  override readonly name = 'MemberProblem';

  /** @param hasNoPlace the tool does not say in which line */
  constructor(
    message: string,
    readonly hasNoPlace = false,
  ) {
    super(message);
  }
}

const PROTOCOLS: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '132': 'sctp' };
/** What a member of a type is made of. */
const TYPES: Readonly<Record<string, readonly ('ip' | 'port' | 'net' | 'number')[]>> = {
  'hash:ip': ['ip'],
  'hash:net': ['net'],
  'hash:ip,port': ['ip', 'port'],
  'hash:ip,port,ip': ['ip', 'port', 'ip'],
  'hash:ip,port,net': ['ip', 'port', 'net'],
  'bitmap:port': ['number'],
};

/**
 * A member of a set as `ipset save` prints it.
 * @throws MemberProblem
 */
export function memberText(text: string, type: string, family: IpFamily | 'any'): string {
  const parts = text.split(',');
  const kinds = TYPES[type]!;
  if (kinds.length < 3 && parts.length > kinds.length) {
    const [said, known] = kinds.length === 1 ? ['Elem separator', 'none'] : ['Two elem separators', 'one'];
    throw new MemberProblem(`Syntax error: ${said} in ${text}, but settype ${type} supports ${known}.`);
  }
  if (parts.length < kinds.length)
    throw new MemberProblem(
      `Syntax error: ${parts.length === 1 ? 'Second' : 'Third'} element is missing from ${text}.`,
    );
  return kinds.map((kind, index) => READERS[kind](parts[index]!, family)).join(',');
}

const READERS = { ip: plainAddress, net: network, port: protocolAndPort, number: plainPort } as const;

function address(text: string, family: IpFamily | 'any'): string {
  // inet_aton(3)
  const isNumber = family === 'IPv4' && /^\d{1,9}$/.test(text);
  const read = parseAddress(
    isNumber ? [24, 16, 8, 0].map((bits) => (Number(text) >>> bits) & 255).join('.') : text,
  );
  if (read?.family !== family)
    throw new MemberProblem(`Syntax error: cannot parse ${text}: resolving to ${family} address failed`);
  return read.text;
}

function plainAddress(text: string, family: IpFamily | 'any'): string {
  if (text.includes('/')) throw new MemberProblem(`Syntax error: plain IP address must be supplied: ${text}`);
  return address(text, family);
}

function network(text: string, family: IpFamily | 'any'): string {
  const [host, length] = text.split('/') as [string, string?];
  const bits = family === 'IPv6' ? 128 : 32;
  if (length !== undefined && !(/^\d+$/.test(length) && Number(length) <= bits))
    throw new MemberProblem(`Syntax error: '${length}' is out of range 0-${bits}`);
  const plain = address(host, family);
  if (length === undefined || Number(length) === bits) return plain;
  if (Number(length) === 0)
    throw new MemberProblem('The value of the CIDR parameter of the IP address is invalid');
  return `${maskAddress(plain, Number(length))}/${length}`;
}

function protocolAndPort(text: string): string {
  const [first, second] = text.split(':') as [string, string?];
  const protocol = second === undefined ? 'tcp' : (PROTOCOLS[first] ?? first.toLowerCase());
  if (!['tcp', 'udp', 'sctp'].includes(protocol))
    throw new MemberProblem(`Syntax error: cannot parse '${text}' as a protocol`);
  return `${protocol}:${portNumber(second ?? first, first)}`;
}

function plainPort(text: string): string {
  return portNumber(text, 'tcp');
}

function portNumber(text: string, protocol: string): string {
  if (/^\d+$/.test(text) && Number(text) <= 65535) return String(Number(text));
  const what = /^\d+$/.test(text) ? 'out of range 0-65535' : 'invalid as number';
  const alsoTried = /^\d+$/.test(protocol) ? '' : `Syntax error: '${protocol}' is invalid as number\n`;
  throw new MemberProblem(
    `Syntax error: '${text}' is ${what}\n${alsoTried}cannot parse '${text}' as a ${protocol} port`,
    true,
  );
}

/** An argument that the tool does not know. */
export class UnknownArgument extends Error {
  override readonly name = 'UnknownArgument';
}

/**
 * A set as its type and options describe it, without members.
 * @throws MemberProblem, UnknownArgument
 */
export function newSet(name: string, type: string, words: readonly string[]): IpSetContents {
  const kinds = TYPES[type];
  if (!kinds) throw new MemberProblem(`Syntax error: typename '${type}' is unknown`);
  const isBitmap = type.startsWith('bitmap:');
  const known = isBitmap ? ['range'] : ['family', 'hashsize', 'maxelem', 'bucketsize', 'initval'];
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) {
    if (!known.includes(words[at]!)) throw new UnknownArgument(words[at]);
    given.set(words[at]!, words[at + 1] ?? '');
  }
  const maxelem = Number(given.get('maxelem') ?? 65536);
  const family: IpFamily = given.get('family') === 'inet6' ? 'IPv6' : 'IPv4';
  const options = isBitmap
    ? `range ${given.get('range') ?? '0-65535'}`
    : `family ${family === 'IPv6' ? 'inet6' : 'inet'} hashsize ${given.get('hashsize') ?? '1024'} maxelem ${maxelem}`;
  return {
    type,
    family: isBitmap ? 'any' : family,
    options,
    added: isBitmap ? '' : ` bucketsize 12 initval ${initialValue(name)}`,
    maxelem: isBitmap ? Infinity : maxelem,
    members: new Set(),
  };
}

/** The kernel takes it by chance. */
function initialValue(name: string): string {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(name)) value = Math.imul(value ^ byte, 0x01000193);
  return `0x${(value >>> 0).toString(16).padStart(8, '0')}`;
}
