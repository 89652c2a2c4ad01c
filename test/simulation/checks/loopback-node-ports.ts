import type { Simulation } from '../simulation.js';
import { NAMES_LOOPBACK, REJECTS_LOCALHOST } from '../world/settings.js';
import { packetOf } from './clients.js';
import { actualFate } from './fate.js';

const LOCALHOST = { IPv4: '127.0.0.1', IPv6: '::1' } as const;

/**
 * What is wrong with packets of the node to node ports on loopback addresses, as docs/internals/spec/changes-1.37.md §4 has it for mode
 * nftables; undefined: nothing.
 */
export function wrongOnLoopback(simulation: Simulation): string | undefined {
  const { history, modes, world, arguments: given } = simulation;
  if (modes.size > 1 || !modes.has('nftables')) return undefined;
  const isRejected = (protocol: string): boolean =>
    given.includes(REJECTS_LOCALHOST) && !(given.includes(NAMES_LOOPBACK) && protocol === 'TCP');
  for (const { key, family, frontends } of history.ports)
    for (const frontend of frontends) {
      if (frontend.kind !== 'node-port') continue;
      const address = LOCALHOST[family];
      const packet = packetOf({ family, nodeAddress: address }, { kind: 'node', source: address }, frontend);
      const fate = actualFate(world.machine.walk.walk(packet));
      const expected = isRejected(frontend.protocol) ? 'reject' : 'untouched';
      if (fate !== expected) return `${key} at ${address} ${frontend.port}: ${fate}; expected ${expected}`;
    }
  return undefined;
}
