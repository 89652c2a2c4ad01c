import { cidrContains, parseCidr } from '../../../src/domain/net/cidr.js';
import { OTHER_ADDRESSES } from '../steps/node.js';
import type { Simulation } from '../simulation.js';
import { clientsOf, packetOf } from './clients.js';
import { actualFate, expectedFate, isAllowed } from './fate.js';

const NODE_PORT_ADDRESSES = '--nodeport-addresses=';
/** What becomes of packets to ports that nobody serves: rules for those without endpoints may meet them, too. */
const UNSERVED: ReadonlySet<string> = new Set(['untouched', 'reject', 'drop']);

/**
 * What is wrong with node ports at other addresses than that of the Node object: at those that the node has and that were asked for they
 * are served, at all others not (docs/internals/spec/model.md §7); undefined: nothing.
 */
export function wrongAtOtherAddresses(simulation: Simulation): string | undefined {
  const { history, mode, modes, world } = simulation;
  if (modes.size > 1 || mode === 'userspace') return undefined;
  const { machine } = world;
  for (const port of history.owned)
    for (const frontend of port.frontends)
      for (const nodeAddress of OTHER_ADDRESSES) {
        if (frontend.kind !== 'node-port' || nodeAddress === port.nodeAddress) continue;
        if (nodeAddress.includes(':') !== (port.family === 'IPv6')) continue;
        const client = clientsOf(port).find(({ kind }) => kind === 'outside')!;
        const fate = actualFate(machine.walk.walk(packetOf({ ...port, nodeAddress }, client, frontend)));
        const isServed = machine.links.isLocal(nodeAddress) && isSelected(simulation, nodeAddress);
        const expected = isServed ? new Set([expectedFate(port, frontend, client, mode)]) : UNSERVED;
        if (!isAllowed(fate, expected, mode, true))
          return `${port.key} at ${nodeAddress} ${frontend.port}: ${fate}; expected ${[...expected].join(' | ')}`;
      }
  return undefined;
}

/** Whether node ports are asked for at an address that is not of the Node object. */
function isSelected({ mode, arguments: given }: Simulation, address: string): boolean {
  // Given twice, the lists are one, as with kube-proxy.
  const lists = given.filter((argument) => argument.startsWith(NODE_PORT_ADDRESSES));
  if (lists.length === 0) return mode !== 'nftables';
  const ranges = lists.flatMap((list) => list.slice(NODE_PORT_ADDRESSES.length).split(',')).map(parseCidr);
  return ranges.some((range) => range && cidrContains(range, address));
}
