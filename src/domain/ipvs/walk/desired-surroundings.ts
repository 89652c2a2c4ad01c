import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { IptablesHost } from '../../iptables/compile/options.js';
import { DesiredRules } from '../../iptables/walk/desired-rules.js';
import { ipvsBaseRules } from '../base-rules.js';
import type { IpvsDesiredState } from '../desired-state.js';
import { desiredIptablesRules } from '../desired-tables.js';
import { SERVICE_SETS, setHeader } from '../service-sets.js';
import type { IpvsSurroundings } from './ipvs-walk.js';

/** What packets meet where everything is as it should be, and nothing is there of other programs. */
export function desiredSurroundings(
  desired: IpvsDesiredState,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
): IpvsSurroundings {
  const sets = SERVICE_SETS.map((set) => ({
    ...setHeader(set, node.family),
    members: new Set(desired.membersOf(set)),
  }));
  return {
    rules: new DesiredRules(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
    sets: new Map(sets.map((set) => [set.name, set])),
    server: (key) => {
      const owned = desired.server(key);
      if (!owned) return undefined;
      const { server, endpoints, owner } = owned;
      const realServers = endpoints.map(({ address, port }) => ({ address, port, weight: 1 }));
      return { server, realServers, servicePort: owner };
    },
    addresses: new Set(desired.addresses()),
  };
}
