import type { Packet } from '../walks/packet-walk.js';
import { cidrContains, parseCidr } from '../../../src/domain/net/cidr.js';
import type { Simulation } from '../simulation.js';
import { actualFate } from './fate.js';

/** Addresses of ranges that a world may have for cluster IPs, and that no Service of any world has. */
const UNUSED = {
  IPv4: ['10.96.200.1', '10.97.200.1'],
  IPv6: ['fd00:10:96::ffa1', 'fd00:10:97::ffa1'],
} as const;
const CLIENT = { IPv4: '10.244.1.250', IPv6: 'fd00:10:244:1::fa' } as const;

/**
 * What is wrong with packets to an address without a Service: in mode nftables they are dropped if it is of a service range, and nothing
 * happens to others (docs/internals/spec/nftables.md); undefined: nothing.
 */
export function wrongAtUnusedAddress({ cluster, modes, world }: Simulation): string | undefined {
  if (modes.size > 1) return undefined;
  const ranges = cluster.serviceRanges.flatMap((range) => parseCidr(range) ?? []);
  for (const family of world.settings.families)
    for (const destination of UNUSED[family]) {
      const isUnallocated = modes.has('nftables') && ranges.some((range) => cidrContains(range, destination));
      const expected = isUnallocated ? 'drop' : 'untouched';
      const packet: Packet = {
        family,
        inputInterface: 'veth1',
        source: CLIENT[family],
        destination,
        protocol: 'TCP',
        destinationPort: 80,
      };
      const fate = actualFate(world.machine.walk.walk(packet));
      if (fate !== expected)
        return `a packet to ${destination}, which no Service has: ${fate}; expected ${expected}`;
    }
  return undefined;
}
