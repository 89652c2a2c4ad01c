import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { IptablesDesiredState } from '../../../domain/iptables/desired-state.js';
import { desiredRules } from '../iptables/desired-rules.js';
import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { DesiredWalk } from '../walk/desired-walk.js';
import { ConcernedEntries } from '../trace/concerned-entries.js';
import {
  USERSPACE_BASE_RULES,
  compilePortals,
  type ProxyAddress,
} from '../../../domain/userspace/portals.js';
import { proxied, type ProxiedPort } from '../../../domain/userspace/proxied-port.js';
import { walkProxied } from './proxied-walk.js';

/**
 * Follows packets through the portals and sockets that these entries get. For each packet it compiles what concerns that packet.
 * @param address where the sockets are
 * @param proxyPortOf the proxy port of a service port, where one is open; else one is made up
 */
export function userspaceDesiredWalk(
  all: Iterable<ForwardingEntry>,
  address: ProxyAddress,
  proxyPortOf: (key: ServicePortKey) => number | undefined = () => undefined,
): DesiredWalk {
  const entries = new ConcernedEntries(all);
  return {
    walk(packet, environment) {
      const desired = new IptablesDesiredState();
      const ports = new Map<string, ProxiedPort>();
      for (const entry of entries.of(packet)) {
        const { name, key, frontends } = entry;
        // The process has no sockets for SCTP.
        if (name.protocol === 'SCTP') continue;
        const proxyPort = proxyPortOf(key) ?? unused(ports, name.protocol);
        ports.set(`${proxyPort}/${name.protocol}`, proxied(entry));
        desired.replace(key, compilePortals(entry, frontends, proxyPort, address));
      }
      const rules = desiredRules(desired, USERSPACE_BASE_RULES);
      const reached = address.listen ?? address.host;
      const localAddresses = new Set([
        ...environment.localAddresses,
        ...(reached === undefined ? [] : [reached]),
      ]);
      const find = (protocol: string, port: number) => ports.get(`${port}/${protocol}`);
      return walkProxied(rules, find, packet, { ...environment, localAddresses });
    },
  };
}

function unused(ports: ReadonlyMap<string, ProxiedPort>, protocol: string): number {
  let port = 1;
  while (ports.has(`${port}/${protocol}`)) port++;
  return port;
}
