import { parseAddress } from '../../../../../src/domain/net/address.js';
import { addressBits, maskAddress } from '../../../../../src/domain/net/cidr.js';
import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import { ParameterProblem } from './extension.js';

/** Of /etc/protocols. */
const PROTOCOLS: Readonly<Record<string, number>> = {
  all: 0,
  icmp: 1,
  tcp: 6,
  udp: 17,
  esp: 50,
  ah: 51,
  icmpv6: 58,
  'ipv6-icmp': 58,
  sctp: 132,
};
const PRINTED = new Map([
  [1, 'icmp'],
  [6, 'tcp'],
  [17, 'udp'],
  [50, 'esp'],
  [51, 'ah'],
  [58, 'ipv6-icmp'],
  [132, 'sctp'],
]);
/** Of /etc/services. */
const SERVICES: Readonly<Record<string, number>> = { ssh: 22, domain: 53, http: 80, https: 443 };

/** The name of a protocol; undefined for all of them. */
export function protocolName(text: string): string | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : PROTOCOLS[text.toLowerCase()];
  if (number === undefined || number > 255)
    throw new ParameterProblem(`unknown protocol "${text}" specified`);
  return number === 0 ? undefined : (PRINTED.get(number) ?? String(number));
}

/** A network as it is printed; undefined for the one of length 0, which is no condition. */
export function networkText(text: string, family: IpFamily): string | undefined {
  const [host, mask] = text.split('/') as [string, string?];
  const address = parseAddress(host);
  if (address?.family !== family) throw new ParameterProblem(`host/network \`${host}' not found`);
  const bits = mask === undefined ? addressBits(family) : lengthOf(mask, family);
  return bits === 0 ? undefined : `${maskAddress(address.text, bits)}/${bits}`;
}

function lengthOf(mask: string, family: IpFamily): number {
  if (/^\d+$/.test(mask) && Number(mask) <= addressBits(family)) return Number(mask);
  const quads = family === 'IPv4' ? parseAddress(mask) : undefined;
  const bits = quads?.text
    .split('.')
    .map((octet) => Number(octet).toString(2).padStart(8, '0'))
    .join('');
  const ones = /^(1*)0*$/.exec(bits ?? '-')?.[1];
  if (ones === undefined) throw new ParameterProblem(`invalid mask \`${mask}' specified`);
  return ones.length;
}

export function interfaceName(text: string): string {
  if (text.length > 15)
    throw new ParameterProblem(`interface name \`${text}' must be shorter than IFNAMSIZ (15)`);
  return text;
}

export function portText(text: string): string {
  const number = /^\d+$/.test(text) ? Number(text) : SERVICES[text];
  if (number === undefined || number > 65535)
    throw new ParameterProblem(`invalid port/service \`${text}' specified`);
  return String(number);
}

/** `80`, `80:90`. */
export function portRange(text: string): string {
  const ports = text.split(':').map(portText);
  return ports.length === 2 && ports[0] === ports[1] ? ports[0]! : ports.join(':');
}

const NUMBER = /^(?:0x[0-9a-f]+|\d+)$/i;

/** A number of 32 bits, in hexadecimal or decimal digits. */
export function wordOf(text: string, extension: string, option: string): number {
  if (!NUMBER.test(text) || Number(text) > 0xffffffff)
    throw new ParameterProblem(
      `${extension}: bad integer value for option "--${option}", or out of range.\n`,
    );
  return Number(text);
}

/** A value and a mask: `0x4000/0x4000`. */
export function maskedOf(text: string, extension: string, option: string): readonly [number, number] {
  const [value, mask = '0xffffffff'] = text.split('/') as [string, string?];
  return [wordOf(value, extension, option), wordOf(mask, extension, option)];
}

export function hexadecimal(value: number): string {
  return `0x${(value >>> 0).toString(16)}`;
}

/** An address, of a family's own writing, with a port or a range of ports behind it. */
export function placeText(
  text: string,
  family: IpFamily,
): { readonly text: string; readonly hasPort: boolean } {
  const pattern = family === 'IPv4' ? /^([^:]*)(?::(.*))?$/ : /^(?:\[(.*)\]:(.*)|(.*))$/;
  const [, first, port, alone] = pattern.exec(text) ?? [];
  const addresses = (first ?? alone ?? '').split('-').map((part) => {
    const address = part === '' ? { family, text: '' } : parseAddress(part);
    if (address?.family !== family) throw new ParameterProblem(`Bad IP address "${part}"`);
    return address.text;
  });
  const ports = port?.split('-') ?? [];
  const wrong = ports.find((part) => !/^\d+$/.test(part) || Number(part) < 1 || Number(part) > 65535);
  if (wrong !== undefined) throw new ParameterProblem(`Port \`${wrong}' not valid`);
  const host = addresses.join('-');
  if (port === undefined) return { text: host, hasPort: false };
  return { text: family === 'IPv4' ? `${host}:${port}` : `[${host}]:${port}`, hasPort: true };
}
