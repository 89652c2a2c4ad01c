import { usesCluster } from './expected-ports.js';
import { rememberedFor } from '../walks/nf-tables-program.js';
import type { Simulation } from '../simulation.js';

const PERSISTENT = 1;

/**
 * A time for which Services ask to keep their clients, and for which the kernel keeps none; undefined if there is none. In mode userspace the
 * process remembers them.
 */
export function missingAffinity(simulation: Simulation): string | undefined {
  if (simulation.mode === 'userspace') return undefined;
  const kept = keptFor(simulation);
  const { history } = simulation;
  for (const service of history.services)
    for (const port of history.current(service)) {
      const { affinitySeconds: affinity, family, cluster, local, frontends } = port;
      const isServed = local.length > 0 || (cluster.length > 0 && usesCluster(port));
      if (affinity > 0 && isServed && !kept.has(affinity))
        return `${service} (${family}, ${frontends.length} frontends) asks for ${affinity} s; the kernel keeps clients for ${[...kept].join(', ') || 'no time'}`;
    }
  return undefined;
}

/** Seconds. */
function keptFor({ mode, world }: Simulation): ReadonlySet<number> {
  const { nfTables, programs, servers, iptables } = world.machine;
  switch (mode) {
    case 'nftables':
      return new Set(
        [...nfTables.tables]
          .flatMap(({ chains }) => [...chains.values()])
          .flatMap(({ rules }) => rules.flatMap(rememberedFor)),
      );
    case 'iptables': {
      const rules = (['IPv4', 'IPv6'] as const)
        .flatMap((family) => programs.tables(family, iptables))
        .flatMap(({ chains }) => chains.flatMap((chain) => chain.rules));
      return new Set(rules.flatMap((rule) => Number(/-m recent .*--seconds (\d+)/.exec(rule)?.[1] ?? 0)));
    }
    default:
      return new Set(
        [...servers.view().values()]
          .filter(({ flags }) => (flags & PERSISTENT) !== 0)
          .map(({ timeout }) => timeout),
      );
  }
}
