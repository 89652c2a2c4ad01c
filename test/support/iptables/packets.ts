import fc from 'fast-check';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Packet, PacketEnvironment, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';
const PREFIX: Readonly<Record<IpFamily, string>> = { IPv4: '10.0.0.', IPv6: 'fd00::' };

/** The node of `serviceEntries`, whose addresses may be those of endpoints and services too. */
export const NODE_ENVIRONMENT: PacketEnvironment = {
  localAddresses: new Set(['10.0.0.11', '10.0.0.2', 'fd00::11', 'fd00::2']),
};

/** Packets to the addresses and ports of `serviceEntries`, of clients of all kinds. */
export function packets(family: IpFamily): fc.Arbitrary<Packet> {
  const address = (last: number) => `${PREFIX[family]}${last}`;
  const outside = family === 'IPv4' ? '192.0.2.7' : '2001:db8::7';
  const client = fc.oneof(
    fc.constant({ inputInterface: 'eth0', source: outside }),
    fc.constant({ inputInterface: undefined, source: address(11) }),
    fc.integer({ min: 1, max: 20 }).map((last) => ({ inputInterface: 'veth1', source: address(last) })),
  );
  const target = fc.record({
    destination: fc.constantFrom(1, 2, 3, 4, 11).map(address),
    protocol: fc.constantFrom('TCP', 'UDP', 'SCTP'),
    destinationPort: fc.constantFrom(53, 80, 30000, 30001, 32000),
  });
  return fc.tuple(client, target).map(([from, to]) => ({ family, ...from, ...to }));
}

/** What two walks through the same rules have in common: not the order of endings, nor what is known of service ports. */
export function comparableEndings(endings: readonly PacketPath[]): readonly object[] {
  return endings
    .map(({ steps, probability, ...ending }) => ({
      ...ending,
      probability: probability.toFixed(6),
      steps: steps.map(({ hook, where, rule, effect }) => `${hook} ${where} ${rule}: ${effect}`),
    }))
    .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}
