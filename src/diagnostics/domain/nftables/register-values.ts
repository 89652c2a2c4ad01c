import type { IpFamily } from '../../../domain/net/ip-family.js';
import { PROTOCOL_NUMBERS } from '../../../domain/model/service-port-name.js';
import { isLeaving } from '../walk/course.js';
import { hostWord, networkHalf, addressBytes } from '../../../domain/nftables/kernel/bytes.js';
import type {
  CompareOperator,
  CtKey,
  MetaKey,
  KernelRuleset,
} from '../../../domain/nftables/kernel/ruleset.js';
import type { KernelCourse } from './kernel-course.js';
const ETHERTYPE = { IPv4: 0x0800, IPv6: 0x86dd } as const;
const NFPROTO = { IPv4: 2, IPv6: 10 } as const;
const CT_STATE_NEW = 8;
const CT_STATUS = { snat: 0x10, dnat: 0x20 } as const;
const INTERFACE_NAME_LENGTH = 16;
/** What of the machine the values depend on. */
export interface Devices {
  /** The device towards an address; undefined if that is not known. */
  readonly towards: (address: string) => string | undefined;
  readonly numbers: KernelRuleset['deviceNumbers'];
}

/** A value of the packet as `meta` puts it into a register; undefined if it is not known. */
export function metaValue(key: MetaKey, course: KernelCourse, devices: Devices): Uint8Array | undefined {
  const { inputInterface, packet } = course;
  switch (key) {
    case 'protocol':
      return networkHalf(ETHERTYPE[packet.family]);
    case 'nfproto':
      return Uint8Array.of(NFPROTO[packet.family]);
    case 'l4proto':
      return Uint8Array.of(PROTOCOL_NUMBERS[packet.protocol]);
    case 'mark':
      return hostWord(course.mark);
    case 'priority':
      return hostWord(course.priority);
    case 'iifname':
      return interfaceName(inputInterface);
    case 'iif':
      return deviceNumber(inputInterface, devices);
    case 'oifname':
    case 'oif': {
      const device = isLeaving(course) ? devices.towards(course.destination) : '';
      if (device === undefined) return undefined;
      return key === 'oifname' ? interfaceName(device) : deviceNumber(device, devices);
    }
  }
}

/** A value of the connection as `ct` puts it into a register. */
export function ctValue(key: CtKey, { packet, isTranslated, isMasqueraded }: KernelCourse): Uint8Array {
  switch (key) {
    case 'state':
      return hostWord(CT_STATE_NEW);
    case 'status':
      return hostWord((isTranslated ? CT_STATUS.dnat : 0) | (isMasqueraded ? CT_STATUS.snat : 0));
    case 'direction':
      return Uint8Array.of(0);
    case 'mark':
      return hostWord(0);
    case 'original saddr':
      return addressBytes(packet.source);
    case 'original daddr':
      return addressBytes(packet.destination);
    case 'original protocol':
      return Uint8Array.of(PROTOCOL_NUMBERS[packet.protocol]);
    case 'original dport':
      return networkHalf(packet.destinationPort);
  }
}

const RTN = { unicast: 1, local: 2, broadcast: 3, multicast: 5 } as const;

/** The type of an address, as `fib` finds it in the routes. */
export function addressType(address: string, family: IpFamily, isLocal: boolean): Uint8Array {
  if (isLocal) return hostWord(RTN.local);
  if (address === '255.255.255.255') return hostWord(RTN.broadcast);
  const first = addressBytes(address)[0]!;
  const isMulticast = family === 'IPv4' ? first >>> 4 === 0xe : first === 0xff;
  return hostWord(isMulticast ? RTN.multicast : RTN.unicast);
}

/** As `cmp` compares what is in a register: byte by byte, as far as the value goes. */
export function compares(
  registers: Uint8Array,
  from: number,
  op: CompareOperator,
  value: Uint8Array,
): boolean {
  const order = orderOf(registers, from, value);
  switch (op) {
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function orderOf(registers: Uint8Array, from: number, value: Uint8Array): number {
  for (let at = 0; at < value.length; at++)
    if (registers[from + at] !== value[at]) return registers[from + at]! - value[at]!;
  return 0;
}

function interfaceName(name: string): Uint8Array {
  const bytes = new Uint8Array(INTERFACE_NAME_LENGTH);
  new TextEncoder().encodeInto(name, bytes);
  return bytes;
}

function deviceNumber(name: string, devices: Devices): Uint8Array | undefined {
  const number = name === '' ? 0 : devices.numbers.get(name);
  return number === undefined ? undefined : hostWord(number);
}
