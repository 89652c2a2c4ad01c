import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Packet } from '../../../src/diagnostics/domain/trace/trace.js';
import { LOCAL_ADDRESSES, POOL } from './cluster-arbitraries.js';

/** Packets to everything that there is, and to what is not, from everywhere. */
export function* packets(family: IpFamily): Iterable<Packet> {
  const sameFamily = (address: string) => address.includes(':') === (family === 'IPv6');
  const own = LOCAL_ADDRESSES.filter(sameFamily);
  const clients = [
    ...POOL.sources[family].map((source) => ({ source, inputInterface: 'eth0' as string | undefined })),
    ...POOL.endpoints[family].slice(0, 2).map((source) => ({ source, inputInterface: 'veth5' })),
    { source: POOL.sources[family].at(-1)!, inputInterface: 'cni0' },
    { source: own[0]!, inputInterface: undefined },
    ...POOL.externalIPs.filter(sameFamily).map((source) => ({ source, inputInterface: undefined })),
  ];
  const unused =
    family === 'IPv4' ? ['172.30.9.9', '172.31.9.9', '192.0.2.77'] : ['fd00:10:96::99', '2001:db8:5::77'];
  const destinations = [
    ...[...POOL.clusterIPs[family], ...POOL.externalIPs.filter(sameFamily), ...unused].flatMap(
      (destination) => [...POOL.ports, 4444].map((destinationPort) => ({ destination, destinationPort })),
    ),
    ...own.flatMap((destination) =>
      [...POOL.nodePorts, 30009].map((destinationPort) => ({ destination, destinationPort })),
    ),
  ];
  for (const client of clients)
    for (const to of destinations)
      for (const protocol of ['TCP', 'UDP', 'SCTP'] as const) yield { family, protocol, ...client, ...to };
}
