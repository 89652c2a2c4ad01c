import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../../domain/iptables/options.js';
import type { DesiredWalk } from '../walk/desired-walk.js';
import { ConcernedEntries } from '../trace/concerned-entries.js';
import { desiredRules } from '../iptables/desired-rules.js';
import { ipvsBaseRules } from '../../../domain/ipvs/base-rules.js';
import { compileIpvs, type IpvsOptions } from '../../../domain/ipvs/compile.js';
import { IpvsDesiredState, desiredIptablesRules, desiredSets } from '../../../domain/ipvs/desired-state.js';
import {
  virtualServerKey,
  type VirtualServerId,
  type VirtualServerKey,
} from '../../../domain/ipvs/virtual-server.js';
import { walkIpvs } from './ipvs-walk.js';
import type { WalkedServer } from './walked-server.js';

/**
 * Follows packets through what these entries make. For each packet it compiles what concerns that packet.
 * @param options the scheduler of Services that do not ask for one, and which others there are
 */
export function ipvsDesiredWalk(
  all: Iterable<ForwardingEntry>,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
  options: Omit<IpvsOptions, 'node'>,
): DesiredWalk {
  const entries = new ConcernedEntries(all);
  return {
    walk(packet, environment) {
      const desired = new IpvsDesiredState();
      for (const entry of entries.of(packet))
        desired.replace(entry.key, compileIpvs(entry, { ...options, node }));
      const sets = desiredSets(desired, node.family);
      const surroundings = {
        rules: desiredRules(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
        sets: new Map(sets.map((set) => [set.name, set])),
        server: (id: VirtualServerId) => desiredServer(desired, virtualServerKey(id)),
        addresses: new Set(desired.addresses()),
      };
      return walkIpvs(surroundings, packet, environment);
    },
  };
}

/** A virtual server as it should be. */
export function desiredServer(desired: IpvsDesiredState, key: VirtualServerKey): WalkedServer | undefined {
  const owned = desired.server(key);
  if (!owned) return undefined;
  const { server, endpoints, owner } = owned;
  const realServers = endpoints.map(({ address, port, weight = 1 }) => ({ address, port, weight }));
  return { server, realServers, servicePort: owner };
}
