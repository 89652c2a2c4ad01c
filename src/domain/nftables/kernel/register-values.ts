import type { IpFamily } from '../../net/ip-family.js';
import { PROTOCOL_NUMBERS } from '../../model/protocol-number.js';
import type { Packet } from '../../trace/packet.js';
import type { HookName } from '../../walk/hook-path.js';
import type { CompareOperator, CtKey, MetaKey } from './expression.js';
import type { KernelCourse } from './kernel-course.js';
import { addressBytes } from './packet-bytes.js';

const ETHERTYPE = { IPv4: 0x0800, IPv6: 0x86dd } as const;
const NFPROTO = { IPv4: 2, IPv6: 10 } as const;
const CT_STATE_NEW = 8;
const CT_STATUS = { snat: 0x10, dnat: 0x20 } as const;
const INTERFACE_NAME_LENGTH = 16;
/** Hooks at which it is known where the packet goes out. */
const ROUTED: ReadonlySet<HookName> = new Set(['forward', 'output', 'postrouting']);

/** What of the machine the values depend on. */
export interface Devices {
  /** The device towards an address; undefined if that is not known. */
  towards(address: string): string | undefined;
  numberOf(name: string): number | undefined;
}

/** A value of the packet as `meta` puts it into a register; undefined if it is not known. */
export function metaValue(
  key: MetaKey,
  course: KernelCourse,
  { family, protocol }: Packet,
  hook: HookName,
  devices: Devices,
): Buffer | undefined {
  switch (key) {
    case 'protocol':
      return networkHalf(ETHERTYPE[family]);
    case 'nfproto':
      return Buffer.of(NFPROTO[family]);
    case 'l4proto':
      return Buffer.of(PROTOCOL_NUMBERS[protocol]);
    case 'mark':
      return hostWord(course.mark);
    case 'priority':
      return hostWord(course.priority);
    case 'iifname':
      return interfaceName(hook === 'output' || hook === 'postrouting' ? '' : course.inputInterface);
    case 'iif':
      return deviceNumber(hook === 'output' ? '' : course.inputInterface, devices);
    case 'oifname':
    case 'oif': {
      const device = ROUTED.has(hook) ? devices.towards(course.destination) : '';
      if (device === undefined) return undefined;
      return key === 'oifname' ? interfaceName(device) : deviceNumber(device, devices);
    }
  }
}

/** A value of the connection as `ct` puts it into a register. */
export function ctValue(key: CtKey, { translated, masquerade }: KernelCourse, packet: Packet): Buffer {
  switch (key) {
    case 'state':
      return hostWord(CT_STATE_NEW);
    case 'status':
      return hostWord((translated ? CT_STATUS.dnat : 0) | (masquerade ? CT_STATUS.snat : 0));
    case 'direction':
      return Buffer.of(0);
    case 'mark':
      return hostWord(0);
    case 'original saddr':
      return addressBytes(packet.source);
    case 'original daddr':
      return addressBytes(packet.destination);
    case 'original protocol':
      return Buffer.of(PROTOCOL_NUMBERS[packet.protocol]);
    case 'original dport':
      return networkHalf(packet.destinationPort);
  }
}

const RTN = { unicast: 1, local: 2, broadcast: 3, multicast: 5 } as const;

/** The type of an address, as `fib` finds it in the routes. */
export function addressType(address: string, family: IpFamily, isLocal: boolean): Buffer {
  if (isLocal) return hostWord(RTN.local);
  if (address === '255.255.255.255') return hostWord(RTN.broadcast);
  const first = addressBytes(address)[0]!;
  const isMulticast = family === 'IPv4' ? first >>> 4 === 0xe : first === 0xff;
  return hostWord(isMulticast ? RTN.multicast : RTN.unicast);
}

/** As `cmp` compares: byte by byte, as far as the value goes. */
export function compares(register: Buffer, op: CompareOperator, value: Buffer): boolean {
  const order = Buffer.compare(register.subarray(0, value.length), value);
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

/** 32 bits in the kernel's own byte order. */
export function hostWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function networkHalf(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function interfaceName(name: string): Buffer {
  const bytes = Buffer.alloc(INTERFACE_NAME_LENGTH);
  bytes.write(name);
  return bytes;
}

function deviceNumber(name: string, devices: Devices): Buffer | undefined {
  const number = name === '' ? 0 : devices.numberOf(name);
  return number === undefined ? undefined : hostWord(number);
}
