import type { Protocol } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import type { ServedAddress } from './service-port-rules.js';
import { HASH_SOURCE_PORT, type VirtualServer } from './virtual-server.js';

const PROTOCOL_OPTION: Readonly<Record<Protocol, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };

/** Virtual servers as `ipvsadm -S -n` prints them, every endpoint with weight 1. */
export function serverLines(served: readonly ServedAddress[]): readonly string[] {
  return served.flatMap(({ server, endpoints }) => [
    serverLine(server),
    ...endpoints.map(
      ({ address, port }) => `-a ${serviceText(server)} -r ${hostPort(address, port)} -m -w 1`,
    ),
  ]);
}

/** A virtual server alone. */
export function serverLine(server: VirtualServer): string {
  return `-A ${serviceText(server)} -s ${server.scheduler}${optionsOf(server)}`;
}

function serviceText({ address, protocol, port }: VirtualServer): string {
  return `${PROTOCOL_OPTION[protocol]} ${hostPort(address, port)}`;
}

function optionsOf({ persistenceSeconds, flags }: VirtualServer): string {
  const persistence = persistenceSeconds > 0 ? ` -p ${persistenceSeconds}` : '';
  return persistence + (flags & HASH_SOURCE_PORT ? ' -b mh-port' : '');
}
