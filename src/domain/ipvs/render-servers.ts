import type { Protocol } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import type { ServedAddress } from './service-port-rules.js';
import { HASH_SOURCE_PORT, type VirtualServer } from './virtual-server.js';

const PROTOCOL_OPTION: Readonly<Record<Protocol, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };

/** Virtual servers as `ipvsadm -S -n` prints them, every endpoint with weight 1. */
export function serverLines(served: readonly ServedAddress[]): readonly string[] {
  return served.flatMap(({ server, endpoints }) => {
    const service = `${PROTOCOL_OPTION[server.protocol]} ${hostPort(server.address, server.port)}`;
    return [
      `-A ${service} -s ${server.scheduler}${optionsOf(server)}`,
      ...endpoints.map(({ address, port }) => `-a ${service} -r ${hostPort(address, port)} -m -w 1`),
    ];
  });
}

function optionsOf({ persistenceSeconds, flags }: VirtualServer): string {
  const persistence = persistenceSeconds > 0 ? ` -p ${persistenceSeconds}` : '';
  return persistence + (flags & HASH_SOURCE_PORT ? ' -b mh-port' : '');
}
