import type { Protocol } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import { FALLBACK, HASH_SOURCE_PORT, type RealServer, type VirtualServer } from './virtual-server.js';

const PROTOCOL_OPTION: Readonly<Record<Protocol, string>> = { TCP: '-t', UDP: '-u', SCTP: '--sctp-service' };

/** A virtual server with its endpoints, of which those without a weight have weight 1. */
interface WeighedServer {
  readonly server: VirtualServer;
  readonly endpoints: readonly (Pick<RealServer, 'address' | 'port'> & Partial<RealServer>)[];
}

/** Virtual servers as `ipvsadm -S -n` prints them. */
export function serverLines(served: readonly WeighedServer[]): readonly string[] {
  return served.flatMap(({ server, endpoints }) => [
    serverLine(server),
    ...endpoints.map(
      ({ address, port, weight = 1 }) =>
        `-a ${serviceText(server)} -r ${hostPort(address, port)} -m -w ${weight}`,
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

/** The flags of the schedulers that have names for them, in ipvsadm's order. */
export const SCHEDULER_FLAGS: Readonly<Record<string, number>> = {
  'sh-fallback': FALLBACK,
  'mh-fallback': FALLBACK,
  'sh-port': HASH_SOURCE_PORT,
  'mh-port': HASH_SOURCE_PORT,
};

function optionsOf({ persistenceSeconds, flags, scheduler }: VirtualServer): string {
  const persistence = persistenceSeconds > 0 ? ` -p ${persistenceSeconds}` : '';
  const names = Object.entries(SCHEDULER_FLAGS).flatMap(([name, flag]) =>
    flags & flag && name.startsWith(`${scheduler}-`) ? name : [],
  );
  return persistence + (names.length > 0 ? ` -b ${names.join(',')}` : '');
}
