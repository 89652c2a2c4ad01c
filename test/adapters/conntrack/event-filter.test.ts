import fc from 'fast-check';
import { CT_EVENT } from '../../../src/adapters/conntrack/ctnetlink.js';
import { eventFilter } from '../../../src/adapters/conntrack/netlink-flow-events.js';
import { FlowReader } from '../../../src/adapters/conntrack/flow-reader.js';
import { readMessages } from '../../../src/adapters/netlink/message-reader.js';
import { assemble } from '../../../src/adapters/netlink/packet-filter.js';
import { connectionMessage, type ToldConnection } from '../../support/traffic/conntrack-messages.js';
import { runFilter } from '../../support/traffic/run-filter.js';

const CREATE = 0x400;
const [SEEN_REPLY, ASSURED] = [2, 4];

const told: ToldConnection = {
  type: CT_EVENT.new,
  protocol: 6,
  client: '10.244.1.7',
  clientPort: 40_001,
  destination: '10.96.7.1',
  destinationPort: 80,
  endpoint: '10.244.2.11',
  endpointPort: 8080,
  status: SEEN_REPLY,
  id: 7,
};
const passes = (parts: Partial<ToldConnection>, shift = 0): boolean =>
  runFilter(assemble(eventFilter(shift)), connectionMessage({ ...told, ...parts })) !== 0;

const ipv6 = { client: 'fd00:10:244:1::7', destination: 'fd00:10:96::1', endpoint: 'fd00:10:244:2::11' };

describe.each([
  ['IPv4', {}],
  ['IPv6', ipv6],
])('of events of %s the kernel passes', (_, addresses) => {
  it.each([
    ['a beginning', { flags: CREATE, status: 0 }, true],
    ['an end', { type: CT_EVENT.delete, status: SEEN_REPLY | ASSURED }, true],
    ['the first answer', { status: SEEN_REPLY, tcpState: 2 }, true],
    ['not that it is established', { status: SEEN_REPLY | ASSURED, tcpState: 3 }, false],
    ['not the first FIN', { status: SEEN_REPLY | ASSURED, tcpState: 4 }, false],
    ['that both ends have closed it', { status: SEEN_REPLY | ASSURED, tcpState: 7 }, true],
    ['that it was reset', { status: SEEN_REPLY | ASSURED, tcpState: 8 }, true],
    ['not that datagrams flow', { status: SEEN_REPLY | ASSURED, protocol: 17 }, false],
    ['UDP', { flags: CREATE, protocol: 17 }, true],
    ['SCTP', { flags: CREATE, protocol: 132 }, true],
    ['not ICMP', { flags: CREATE, protocol: 1 }, false],
  ] as const)('%s', (_, parts, expected) => {
    expect(passes({ ...addresses, ...parts })).toBe(expected);
    expect(passes({ ...addresses, ...parts, clientPort: 65_535 }, 1)).toBe(
      expected && inSampleOf({ ...told, ...addresses, ...parts, clientPort: 65_535 }, 1),
    );
  });
});

it('of another family it passes nothing', () => {
  const message = connectionMessage(told);
  message[16] = 7;
  expect(runFilter(assemble(eventFilter(0)), message)).toBe(0);
});

it('the kernel samples the connections that are sampled here', () => {
  const address = fc.oneof(
    fc.ipV4().map((client) => ({ client })),
    fc.ipV6().map(() => ipv6),
  );
  const byte = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(address, byte, fc.nat(0xffff), fc.integer({ min: 0, max: 16 }), (parts, low, port, shift) => {
      const ends = 'destination' in parts ? { ...parts, client: `fd00::${low.toString(16)}` } : parts;
      const one = { ...told, ...ends, clientPort: port, flags: CREATE, protocol: 17 };
      expect(passes(one, shift)).toBe(inSampleOf(one, shift));
    }),
    { numRuns: 500 },
  );
});

function inSampleOf(one: ToldConnection, shift: number): boolean {
  const message = connectionMessage(one);
  return new FlowReader().read([...readMessages(message, message.length)][0]!, shift);
}
