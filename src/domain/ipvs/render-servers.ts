import type { Protocol } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import { HASH_SOURCE_PORT, type VirtualServer } from './virtual-server.js';

const PROTOCOL_OPTION: Readonly<Record<Protocol, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };

/** A virtual server with its endpoints, of which those without a weight have weight 1. */
interface WeighedServer {
  readonly server: VirtualServer;
  readonly endpoints: readonly {
    readonly address: string;
    readonly port: number;
    readonly weight?: number;
  }[];
}

/** Virtual servers as `ipvsadm -S -n` prints them. */
export function serverLines(served: readonly WeighedServer[]): readonly string[] {
  return served.flatMap(({ server, endpoints }) => {
    const service = `${PROTOCOL_OPTION[server.protocol]} ${hostPort(server.address, server.port)}`;
    return [
      `-A ${service} -s ${server.scheduler}${optionsOf(server)}`,
      ...endpoints.map(
        ({ address, port, weight = 1 }) => `-a ${service} -r ${hostPort(address, port)} -m -w ${weight}`,
      ),
    ];
  });
}

function optionsOf({ persistenceSeconds, flags }: VirtualServer): string {
  const persistence = persistenceSeconds > 0 ? ` -p ${persistenceSeconds}` : '';
  return persistence + (flags & HASH_SOURCE_PORT ? ' -b mh-port' : '');
}
