import type { ConnectionHolder } from '../../application/ports/node/connection-holder.js';
import type { WatchedProtocol } from '../../application/ports/node/conntrack.js';
import type { ServiceHealthChecks } from '../../application/health/service-health-checks.js';
import type { LocalhostLookup } from '../../application/localhost/localhost-lookup.js';
import type { LocalhostNodePorts } from '../../application/localhost/localhost-node-ports.js';
import type { SyncLoop } from '../../application/sync/sync-loop.js';
import type { ReconcileConntrack } from '../../application/use-cases/reconcile-conntrack.js';
import type { ResetDeadConnections } from '../../application/use-cases/reset-dead-connections.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** What runs for one IP family. */
export interface ServedFamily {
  readonly family: IpFamily;
  readonly loop: SyncLoop;
  /** Undefined: health-check node ports stay closed. */
  readonly healthChecks: ServiceHealthChecks | undefined;
  /** Undefined: the proxy listens on no node ports. */
  readonly localhostNodePorts: LocalhostNodePorts | undefined;
  /** Removes stale flows, one for each protocol. Empty: tracked connections are left alone. */
  readonly conntrack: readonly ReconcileConntrack[];
  /** One for each protocol that has them. Empty: connections of endpoints that are gone are left to their clients. */
  readonly resets: readonly ResetDeadConnections[];
}

export function localhostLookup(served: readonly ServedFamily[]): LocalhostLookup {
  return (family, key) => served.find((one) => one.family === family)?.localhostNodePorts?.placeOf(key);
}

/** The protocols whose connections to dead endpoints this program resets. */
export function protocolsToReset(
  { name, holder }: { readonly name: string; readonly holder?: ConnectionHolder },
  { resetDeadConnections }: { readonly resetDeadConnections: boolean },
): readonly WatchedProtocol[] {
  // In mode userspace the proxy itself holds the connections, and closes them.
  if (!resetDeadConnections || name === 'userspace') return [];
  // IPVS deletes a real server of SCTP with its associations.
  return holder ? ['TCP'] : ['TCP', 'SCTP'];
}
