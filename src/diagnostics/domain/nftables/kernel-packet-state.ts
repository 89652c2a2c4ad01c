import { PacketState, isLeaving } from '../walk/packet-state.js';
import { TABLE_NAME, ADDRESSES } from '../../../domain/nftables/layout/table.js';
import type {
  KernelTable,
  CompareOperator,
  CtKey,
  MetaKey,
  KernelRuleset,
} from '../../../domain/nftables/kernel/ruleset.js';
import { PROTOCOL_NUMBERS } from '../../../domain/model/service-port-name.js';
import type { Packet } from '../trace/trace.js';
import { networkHalf, addressBytes, hostWord } from '../../../domain/nftables/kernel/bytes.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

/** A packet in flight through the rules of the kernel. */
export class KernelPacketState extends PacketState {
  /**
   * @param registers those of the rule that is being evaluated, which begins with empty ones; states share them, but those between
   *   which a rule draws
   */
  constructor(
    state: ConstructorParameters<typeof PacketState>[0],
    readonly headers: Headers,
    readonly registers: Uint8Array = new Uint8Array(REGISTERS_LENGTH),
    readonly priority: number = 0,
  ) {
    super(state);
  }

  override with(changes: Partial<Omit<KernelPacketState, 'with'>>): this {
    const { headers, registers, priority } = this;
    return Object.assign(new KernelPacketState(this, headers, registers, priority), changes) as this;
  }
}

const REGISTERS_LENGTH = 64;

/** Whether it is the table of this program. */
export function isOurs({ name, family }: KernelTable): boolean {
  return name === TABLE_NAME && family !== 'inet';
}

/**
 * Puts a value into the registers of the packet state. Whole words are written, as the kernel does.
 * @param length of the part of the bytes that begins at `from`
 */
export function load(
  state: KernelPacketState,
  to: number,
  bytes: Uint8Array,
  from = 0,
  length = bytes.length,
): KernelPacketState {
  const { registers } = state;
  // For so few bytes this takes a fraction of what set and fill take.
  for (let at = 0; at < length; at++) registers[to + at] = bytes[from + at]!;
  clearRest(registers, to, length);
  return state;
}

/** Of the last word of what was written. */
export function clearRest(registers: Uint8Array, to: number, length: number): void {
  for (let at = length; at % 4 !== 0; at++) registers[to + at] = 0;
}

/** An ephemeral port, as clients use them. */
const SOURCE_PORT = 40000;
const TCP_SYN = 0x02;

/** The headers of a packet, as rules see them. */
export interface Headers {
  readonly network: Uint8Array;
  readonly transport: Uint8Array;
}

const TRANSPORT_LENGTHS = { TCP: 20, UDP: 8, SCTP: 12 } as const;

/** The headers of the first packet of a connection. */
export function headersOf(packet: Packet): Headers {
  const { family, source, destination, protocol, destinationPort } = packet;
  const number = PROTOCOL_NUMBERS[protocol];
  const network = new Uint8Array(family === 'IPv4' ? 20 : 40);
  if (family === 'IPv4') {
    network.set([0x45, 0, 0, 60, 0, 1, 0x40, 0, 64, number]);
  } else {
    network.set([0x60, 0, 0, 0, 0, 40, number, 64]);
  }
  network.set(addressBytes(source), ADDRESSES[family].saddr);
  network.set(addressBytes(destination), ADDRESSES[family].daddr);
  const transport = new Uint8Array(TRANSPORT_LENGTHS[protocol]);
  transport.set(networkHalf(SOURCE_PORT));
  transport.set(networkHalf(destinationPort), 2);
  if (protocol === 'TCP') transport.set([0x50, TCP_SYN], 12);
  return { network, transport };
}

/** The same with another destination. */
export function readdressed({ network, transport }: Headers, address: string, port: number): Headers {
  const headers = { network: network.slice(), transport: transport.slice() };
  headers.network.set(addressBytes(address), address.includes(':') ? 24 : 16);
  headers.transport.set(networkHalf(port), 2);
  return headers;
}

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
export function metaValue(key: MetaKey, state: KernelPacketState, devices: Devices): Uint8Array | undefined {
  const { inputInterface, packet } = state;
  switch (key) {
    case 'protocol':
      return networkHalf(ETHERTYPE[packet.family]);
    case 'nfproto':
      return Uint8Array.of(NFPROTO[packet.family]);
    case 'l4proto':
      return Uint8Array.of(PROTOCOL_NUMBERS[packet.protocol]);
    case 'mark':
      return hostWord(state.mark);
    case 'priority':
      return hostWord(state.priority);
    case 'iifname':
      return interfaceName(inputInterface);
    case 'iif':
      return deviceNumber(inputInterface, devices);
    case 'oifname':
    case 'oif': {
      const device = isLeaving(state) ? devices.towards(state.destination) : '';
      if (device === undefined) return undefined;
      return key === 'oifname' ? interfaceName(device) : deviceNumber(device, devices);
    }
  }
}

/** A value of the connection as `ct` puts it into a register. */
export function ctValue(key: CtKey, { packet, isTranslated, isMasqueraded }: KernelPacketState): Uint8Array {
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
