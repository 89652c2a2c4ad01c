import { serverAt } from '../kernel/ipvs/virtual-server.js';
import type { Simulation } from '../simulation.js';

const DEVICE = 'kube-ipvs0';

/** Whether connections through mode ipvs to this address are still waited for, although it is not the mode in force. */
export function drains({ mode, world }: Simulation, address: string | undefined): boolean {
  return mode !== 'ipvs' && [...world.machine.links.addresses(DEVICE)].some((one) => one.address === address);
}

/**
 * An address that mode ipvs has on its device although no Service has it any more (docs/internals/spec/ipvs.md §3); undefined if there is
 * none.
 */
export function surplusAddress({ history, mode, world }: Simulation): string | undefined {
  if (mode !== 'ipvs') return undefined;
  const wanted = new Set(history.ports.flatMap(({ frontends }) => frontends.map(({ address }) => address)));
  for (const { address } of world.machine.links.addresses(DEVICE))
    if (!wanted.has(address)) return `no Service has the address ${address}, which is on ${DEVICE}`;
  return undefined;
}

/**
 * A frontend of an address without its virtual server; undefined if there is none. Where nobody serves it, packets may not tell: at an
 * address of which another port has one, rules refuse what no virtual server takes.
 */
export function missingServer({ history, mode, world }: Simulation): string | undefined {
  if (mode !== 'ipvs') return undefined;
  for (const { key, frontends } of history.ports)
    for (const { address, port, protocol } of frontends)
      if (address !== undefined && !world.machine.servers.find(serverAt({ address, port, protocol })))
        return `${key} has no virtual server at ${address} ${port}`;
  return undefined;
}
