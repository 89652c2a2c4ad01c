import type { ForwardingEntry } from '../../forwarding/forwarding-entry.js';
import { IptablesDesiredState } from '../../iptables/state/desired-state.js';
import { desiredRules } from '../../iptables/walk/desired-rules.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import { ConcernedEntries } from '../../trace/concerned-entries.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import { USERSPACE_BASE_RULES } from '../base-rules.js';
import { compilePortals } from '../portals.js';
import type { ProxyAddress } from '../proxy-address.js';
import { proxied, type ProxiedPort } from './proxied-port.js';
import { walkProxied } from './proxied-walk.js';

/** Follows packets through the portals and sockets that these entries get. For each packet it compiles what concerns that packet. */
export class UserspaceDesiredWalk {
  private readonly entries: ConcernedEntries;

  /**
   * @param address where the sockets are
   * @param proxyPortOf the proxy port of a service port, where one is open; else one is made up
   */
  constructor(
    entries: Iterable<ForwardingEntry>,
    private readonly address: ProxyAddress,
    private readonly proxyPortOf: (key: ServicePortKey) => number | undefined = () => undefined,
  ) {
    this.entries = new ConcernedEntries(entries);
  }

  walk(packet: Packet, environment: PacketEnvironment): readonly TracedEnding[] {
    const desired = new IptablesDesiredState();
    const ports = new Map<string, ProxiedPort>();
    for (const entry of this.entries.of(packet)) {
      const { name, key, frontends } = entry;
      // The process has no sockets for SCTP.
      if (name.protocol === 'SCTP') continue;
      const proxyPort = this.proxyPortOf(key) ?? unused(ports, name.protocol);
      ports.set(`${proxyPort}/${name.protocol}`, proxied(entry));
      desired.replace(key, compilePortals(entry, frontends, proxyPort, this.address));
    }
    const rules = desiredRules(desired, USERSPACE_BASE_RULES);
    const { listen, host } = this.address;
    const localAddresses = new Set([...environment.localAddresses, listen ?? host]);
    const find = (protocol: string, port: number) => ports.get(`${port}/${protocol}`);
    return walkProxied(rules, find, packet, { ...environment, localAddresses });
  }
}

function unused(ports: ReadonlyMap<string, ProxiedPort>, protocol: string): number {
  let port = 1;
  while (ports.has(`${port}/${protocol}`)) port++;
  return port;
}
