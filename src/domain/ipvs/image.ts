import type { NodeNetwork } from '../forwarding/node-network.js';
import type { IpSet } from '../ipset/ip-set.js';
import { IptablesDesiredState } from '../iptables/state/desired-state.js';
import { DesiredTables } from '../iptables/state/desired-tables.js';
import type { IptablesHost } from '../iptables/compile/options.js';
import type { IpvsComposition } from './composition.js';
import type { ServedAddress } from './fragment.js';
import { ipvsFrame } from './frame.js';
import { SERVICE_SETS, setHeader } from './service-sets.js';

/** Everything of mode ipvs in one family as it should be: what a fresh start makes, and `plan` prints. */
export interface IpvsImage {
  readonly servers: readonly ServedAddress[];
  /** The addresses bound to the device of service addresses. */
  readonly addresses: readonly string[];
  readonly sets: readonly IpSet[];
  readonly rules: DesiredTables;
}

/** Draws the image of a composition, in order of keys. Costs what it holds. */
export function ipvsImage(
  composition: IpvsComposition,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
): IpvsImage {
  const servers = [...composition.allServers()].sort(([one], [other]) => (one < other ? -1 : 1));
  const rules = new IptablesDesiredState();
  for (const owner of new Set(servers.map(([, server]) => server.owner)))
    rules.replace(owner, composition.rulesOf(owner));
  return {
    servers: servers.map(([, { server, endpoints }]) => ({ server, endpoints })),
    addresses: [...composition.addresses()].sort(),
    sets: SERVICE_SETS.map((set) => ({
      ...setHeader(set, node.family),
      members: new Set([...composition.membersOf(set)].sort()),
    })),
    rules: new DesiredTables(rules, ipvsFrame(node, host, composition.filled)),
  };
}
