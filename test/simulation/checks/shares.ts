import { hostPort } from '../../../src/domain/net/address.js';
import { serverAt } from '../kernel/ipvs/virtual-server.js';
import type { Simulation } from '../simulation.js';
import { clientsOf, packetOf } from './clients.js';
import {
  usesCluster,
  type ExpectedEndpoint,
  type ExpectedFrontend,
  type ExpectedPort,
} from './expected-ports.js';

/**
 * Tables of slots follow weights to about a percent: those of Maglev and of least connections, and those of Services with affinity in
 * nftables mode. Rules of iptables mode follow them to a step of the match `statistic`.
 */
const TABLE_WITHIN = 0.01;
const WITHIN = 1e-6;

/**
 * An endpoint that gets another part of new connections than its weight asks for (docs/configuration/load-balancing.md); undefined if there
 * is none.
 */
export function wrongShare(simulation: Simulation): string | undefined {
  const { history, mode, world } = simulation;
  if (mode === 'userspace') return undefined;
  for (const port of history.owned)
    for (const frontend of port.frontends) {
      const [client] = clientsOf(port);
      const shares = new Map<string, number>();
      for (const { endpoint, probability } of world.machine.walk.walk(packetOf(port, client!, frontend)))
        if (endpoint) shares.set(placeOf(endpoint), (shares.get(placeOf(endpoint)) ?? 0) + probability);
      if (shares.size > 1) simulation.active.add('shares of endpoints');
      const problem = problemOf(port, shares);
      if (problem !== undefined)
        return `${port.key} at ${frontend.address ?? 'node'} ${frontend.port}: ${problem}`;
    }
  return undefined;
}

/** Which endpoints there are is for others to check. */
function problemOf(
  { cluster, local, method, affinitySeconds }: ExpectedPort,
  shares: ReadonlyMap<string, number>,
): string | undefined {
  const list = [cluster, local].find(
    (all) => all.length === shares.size && all.every((one) => shares.has(placeOf(one))),
  );
  if (!list) return undefined;
  const total = list.reduce((sum, { weight }) => sum + weight, 0);
  const isTable = /^maglev|^least-connections$/.test(method) || affinitySeconds > 0;
  const within = isTable ? TABLE_WITHIN : WITHIN;
  for (const one of list) {
    const [share, wanted] = [shares.get(placeOf(one))!, one.weight / total];
    if (Math.abs(share - wanted) > within)
      return `${placeOf(one)} gets ${share} of the connections, not ${wanted} (${method})`;
  }
  return undefined;
}

/**
 * An endpoint of weight 0 that mode ipvs does not keep as a real server of weight 0 (docs/internals/ipvs.md); undefined if there is none.
 */
export function missingWeightless({ history, mode, world }: Simulation): string | undefined {
  if (mode !== 'ipvs') return undefined;
  for (const port of history.owned)
    for (const frontend of port.frontends) {
      const { address } = frontend;
      if (address === undefined) continue;
      const server = world.machine.servers.find(serverAt({ ...frontend, address }));
      const weights = new Map(
        [...(server?.destinations.values() ?? [])].map((one) => [placeOf(one), one.weight]),
      );
      for (const endpoint of keptAt(port, frontend))
        if (weights.get(placeOf(endpoint)) !== 0)
          return `${port.key} at ${address} ${frontend.port}: ${placeOf(endpoint)} has weight ${weights.get(placeOf(endpoint))}, not 0`;
    }
  return undefined;
}

function keptAt(port: ExpectedPort, { kind }: ExpectedFrontend): readonly ExpectedEndpoint[] {
  const { internalPolicyLocal, externalPolicyLocal, local, weightless } = port;
  const wantsLocal = kind === 'cluster-ip' ? internalPolicyLocal : externalPolicyLocal;
  if (wantsLocal && local.length > 0) return weightless.local;
  return usesCluster(port) ? weightless.cluster : [];
}

function placeOf({ address, port }: Pick<ExpectedEndpoint, 'address' | 'port'>): string {
  return hostPort(address, port);
}
