import { headersOf, readdressed } from '../../../../src/diagnostics/domain/nftables/kernel-packet-state.js';
import { addressText } from '../../../../src/domain/nftables/kernel/bytes.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';

const v4: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.1',
  destination: '198.51.100.1',
  protocol: 'TCP',
  destinationPort: 8080,
};
const v6: Packet = { ...v4, family: 'IPv6', source: '2001:db8::1', destination: 'fd00::10' };
const PROTOCOLS = [
  ['TCP', 6, 20],
  ['UDP', 17, 8],
  ['SCTP', 132, 12],
] as const;

/** The fields of RFC 791. */
function ipv4(bytes: Uint8Array) {
  const header = Buffer.from(bytes);
  return {
    version: header[0]! >> 4,
    headerLength: 4 * (header[0]! & 15),
    service: header[1],
    isWhole: (header.readUInt16BE(6) & 0x3fff) === 0,
    timeToLive: header[8],
    protocol: header[9],
    source: addressText(header.subarray(12, 16)),
    destination: addressText(header.subarray(16, 20)),
  };
}

/** The fields of RFC 8200. */
function ipv6(bytes: Uint8Array) {
  const header = Buffer.from(bytes);
  return {
    version: header[0]! >> 4,
    classAndLabel: header.readUInt32BE(0) & 0xfffffff,
    next: header[6],
    hopLimit: header[7],
    source: addressText(header.subarray(8, 24)),
    destination: addressText(header.subarray(24)),
  };
}

const ports = (bytes: Uint8Array) => [Buffer.from(bytes).readUInt16BE(0), Buffer.from(bytes).readUInt16BE(2)];

it.each(PROTOCOLS)(
  'the first packet over %s is a whole one, as a host sends it',
  (protocol, number, length) => {
    const { network, transport } = headersOf({ ...v4, protocol });
    expect(network).toHaveLength(20);
    expect(ipv4(network)).toEqual({
      version: 4,
      headerLength: 20,
      service: 0,
      isWhole: true,
      timeToLive: 64,
      protocol: number,
      source: v4.source,
      destination: v4.destination,
    });
    const headers6 = headersOf({ ...v6, protocol });
    expect(headers6.network).toHaveLength(40);
    expect(ipv6(headers6.network)).toEqual({
      version: 6,
      classAndLabel: 0,
      next: number,
      hopLimit: 64,
      source: v6.source,
      destination: v6.destination,
    });
    for (const each of [transport, headers6.transport]) {
      expect(each).toHaveLength(length);
      expect(ports(each)).toEqual([40_000, 8080]);
    }
  },
);

it('begins a TCP connection by SYN alone, without options', () => {
  const { transport } = headersOf(v4);
  expect([transport[12]! >> 4, transport[13]]).toEqual([5, 0x02]);
  expect(transport.subarray(4, 12)).toEqual(new Uint8Array(8));
});

it.each([
  [v4, '10.9.9.9'],
  [v6, 'fd00::99'],
] as const)('has another destination after its translation, and nothing else: %j', (packet, destination) => {
  const before = headersOf(packet);
  expect(readdressed(before, destination, 53)).toEqual(
    headersOf({ ...packet, destination, destinationPort: 53 }),
  );
  expect(before).toEqual(headersOf(packet));
});
