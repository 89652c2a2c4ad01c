import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { IptablesHost } from '../../iptables/compile/options.js';
import { IptablesConcernedEntries } from '../../iptables/walk/concerned-entries.js';
import { DesiredRules } from '../../iptables/walk/desired-rules.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import { ipvsBaseRules } from '../base-rules.js';
import { compileIpvs } from '../compile.js';
import { IpvsDesiredState } from '../desired-state.js';
import { desiredIptablesRules, desiredSets } from '../desired-tables.js';
import type { IpvsOptions } from '../options.js';
import { virtualServerKey, type VirtualServerId } from '../virtual-server.js';
import { walkIpvs, type IpvsSurroundings } from './ipvs-walk.js';
import type { WalkedServer } from './walked-server.js';

/** Follows packets through what these entries make. For each packet it compiles what concerns that packet. */
export class IpvsDesiredWalk {
  private readonly entries: IptablesConcernedEntries;

  /** @param options the scheduler of Services that do not ask for one, and which others there are */
  constructor(
    entries: Iterable<ForwardingEntry>,
    private readonly node: NodeNetwork,
    private readonly host: Pick<IptablesHost, 'randomFully'>,
    private readonly options: Omit<IpvsOptions, 'node'>,
  ) {
    this.entries = new IptablesConcernedEntries([...entries]);
  }

  walk(packet: Packet, environment: PacketEnvironment): readonly TracedEnding[] {
    const desired = new IpvsDesiredState();
    const options = { ...this.options, node: this.node };
    for (const entry of this.entries.of(packet)) desired.replace(entry.key, compileIpvs(entry, options));
    return walkIpvs(this.surroundings(desired), packet, environment);
  }

  private surroundings(desired: IpvsDesiredState): IpvsSurroundings {
    const { node, host } = this;
    const sets = desiredSets(desired, node.family);
    return {
      rules: new DesiredRules(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
      sets: new Map(sets.map((set) => [set.name, set])),
      server: (id) => desiredServer(desired, id),
      addresses: new Set(desired.addresses()),
    };
  }
}

function desiredServer(desired: IpvsDesiredState, id: VirtualServerId): WalkedServer | undefined {
  const owned = desired.server(virtualServerKey(id));
  if (!owned) return undefined;
  const { server, endpoints, owner } = owned;
  const realServers = endpoints.map(({ address, port }) => ({ address, port, weight: 1 }));
  return { server, realServers, servicePort: owner };
}
