import {
  addressType,
  compares,
  ctValue,
  metaValue,
  KernelPacketState,
  headersOf,
} from '../../../../src/diagnostics/domain/nftables/kernel-packet-state.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { initialState, type HookName } from '../../../../src/diagnostics/domain/walk/packet-state.js';

const packet: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.1',
  destination: '198.51.100.1',
  protocol: 'UDP',
  destinationPort: 53,
};
const own: Packet = { ...packet, inputInterface: undefined };
const devices = {
  towards: () => 'eth1',
  numbers: new Map([
    ['eth0', 2],
    ['eth1', 3],
  ]),
};

const courseOf = (of: Packet, parts: Partial<KernelPacketState> = {}): KernelPacketState =>
  new KernelPacketState(initialState(of), headersOf(of)).with(parts);
const name = (text: string): Uint8Array => Uint8Array.of(...Buffer.from(text.padEnd(16, '\0')));
const word = (number: number): Uint8Array => Uint8Array.of(number, 0, 0, 0);

it.each<[HookName, Packet, string, string]>([
  ['prerouting', packet, 'eth0', ''],
  ['input', packet, 'eth0', ''],
  ['forward', packet, 'eth0', 'eth1'],
  ['postrouting', packet, 'eth0', 'eth1'],
  ['output', own, '', 'eth1'],
  ['postrouting', own, '', 'eth1'],
])('at hook %s, %j came in through "%s" and leaves through "%s"', (hook, of, input, output) => {
  const course = courseOf(of, { hook });
  const number = (device: string) => word(devices.numbers.get(device) ?? 0);
  expect(metaValue('iifname', course, devices)).toEqual(name(input));
  expect(metaValue('oifname', course, devices)).toEqual(name(output));
  expect(metaValue('iif', course, devices)).toEqual(number(input));
  expect(metaValue('oif', course, devices)).toEqual(number(output));
});

it('knows no number of a device that was not listed, and no device that nobody asked for', () => {
  const course = courseOf(packet, { hook: 'forward', inputInterface: 'veth7' });
  const unasked = { ...devices, towards: () => undefined };
  expect(metaValue('iif', course, devices)).toBeUndefined();
  expect([metaValue('oif', course, unasked), metaValue('oifname', course, unasked)]).toEqual([
    undefined,
    undefined,
  ]);
});

it('has what rules gave the packet', () => {
  const course = courseOf(packet, { mark: 0x4000, priority: 7 });
  expect(metaValue('mark', course, devices)).toEqual(Uint8Array.of(0, 0x40, 0, 0));
  expect(metaValue('priority', course, devices)).toEqual(word(7));
});

it.each([
  ['IPv4', [8, 0], 2],
  ['IPv6', [0x86, 0xdd], 10],
] as const)('has the numbers of %s and the protocol', (family, protocol, number) => {
  const course = courseOf({
    ...packet,
    ...{ family, ...(family === 'IPv6' && { source: 'fd00::1', destination: 'fd00::2' }) },
  });
  expect(metaValue('protocol', course, devices)).toEqual(Uint8Array.of(...protocol));
  expect(metaValue('nfproto', course, devices)).toEqual(Uint8Array.of(number));
  expect(metaValue('l4proto', course, devices)).toEqual(Uint8Array.of(17));
});

it('has the connection as it was before anything was translated', () => {
  const course = courseOf(packet, { destination: '10.0.0.1', port: 5353, isTranslated: true });
  expect(ctValue('original saddr', course)).toEqual(Uint8Array.of(192, 0, 2, 1));
  expect(ctValue('original daddr', course)).toEqual(Uint8Array.of(198, 51, 100, 1));
  expect(ctValue('original dport', course)).toEqual(Uint8Array.of(0, 53));
  expect(ctValue('original protocol', course)).toEqual(Uint8Array.of(17));
  expect(ctValue('direction', course)).toEqual(Uint8Array.of(0));
  expect(ctValue('state', course)).toEqual(word(8));
  expect(ctValue('mark', course)).toEqual(word(0));
});

it.each([
  [false, false, 0],
  [true, false, 0x20],
  [false, true, 0x10],
  [true, true, 0x30],
])(
  'tells a translated destination (%s) from a rewritten source (%s)',
  (isTranslated, isMasqueraded, status) => {
    expect(ctValue('status', courseOf(packet, { isTranslated, isMasqueraded }))).toEqual(word(status));
  },
);

it.each([
  ['10.0.0.1', true, 2],
  ['255.255.255.255', false, 3],
  ['224.0.0.251', false, 5],
  ['239.1.2.3', false, 5],
  ['198.51.100.1', false, 1],
  ['240.0.0.1', false, 1],
  ['fd00::1', true, 2],
  ['ff02::1', false, 5],
  ['fe80::1', false, 1],
])('knows what kind of address %s is (of this node: %s)', (address, isLocal, type) => {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  expect(addressType(address, family, isLocal)).toEqual(word(type));
});

it.each([
  ['==', [80]],
  ['!=', [79, 81]],
  ['<', [81]],
  ['<=', [80, 81]],
  ['>', [79]],
  ['>=', [79, 80]],
] as const)('80 %s each of %j, of 79, 80 and 81', (op, expected) => {
  const registers = Uint8Array.of(7, 7, 7, 7, 0, 80, 7, 7);
  expect([79, 80, 81].filter((number) => compares(registers, 4, op, Uint8Array.of(0, number)))).toEqual(
    expected,
  );
});
