import { servicePortText } from '../../domain/reconcile/rule-difference.js';
import type { DeviceTowards } from './walk/on-demand.js';
import type { PacketState } from './walk/packet-state.js';
import type { RuleSource } from './iptables/rule.js';
import { walkTables } from './iptables/tables-walk.js';
import { hostPort } from '../../domain/net/address.js';
import type { Packet, PacketEnvironment, PacketPath } from './trace/trace.js';
import { shareOf, withStep } from './walk/packet-state.js';
import { localTo } from './walk/hook-path.js';
import { shareText } from './walk/chain-walk.js';
import { type FindProxiedPort, type ProxiedPort, proxied } from '../../domain/userspace/proxied-port.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { DesiredTables, IptablesDesiredState } from '../../domain/iptables/desired-state.js';
import { desiredRules } from './iptables/desired-rules.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { USERSPACE_BASE_RULES, compilePortals, type ProxyAddress } from '../../domain/userspace/portals.js';

/**
 * Sends a packet, the first of its connection, through the portals, and on through the process to which they lead. The process
 * makes a connection of its own to the endpoint, so that the source is always rewritten.
 */
export function walkProxied(
  rules: RuleSource,
  find: FindProxiedPort,
  packet: Packet,
  environment: PacketEnvironment,
  devices?: DeviceTowards,
): readonly PacketPath[] {
  const isHere = localTo(environment, packet);
  return walkTables(rules, packet, environment, {
    ...(devices && { devices }),
    process: (state) => {
      const { isTranslated, destination, port } = state;
      const proxied = isTranslated && isHere(destination) ? find(packet.protocol, port) : undefined;
      return proxied ? passedOn(state, proxied) : [state];
    },
  });
}

const OWN_CONNECTION = 'over a connection of its own, which rewrites the source to an address of this node';

function passedOn(
  state: PacketState,
  { servicePort, endpoints, isSticky }: ProxiedPort,
): readonly PacketState[] {
  const { protocol } = state.packet;
  const accepted = state.with({ hook: 'process', isSticky });
  const rule = `port ${state.port}/${protocol}`;
  const place = { where: 'proxy socket', rule, servicePort: servicePortText(servicePort) };
  if (endpoints.length > 0) {
    const share = 1 / endpoints.length;
    const inTurn = share < 1 ? `, ${shareText(share)} in turn` : '';
    return endpoints.map(({ address, port }) =>
      withStep(
        shareOf(accepted, share),
        place,
        `passed on to ${hostPort(address, port)}${inTurn}, ${OWN_CONNECTION}`,
      ).with({ destination: address, port, isMasqueraded: true }),
    );
  }
  // A TCP connection is closed as soon as it is accepted; datagrams are lost.
  const [verdict, effect] =
    protocol === 'TCP' ? (['reject', 'closed immediately'] as const) : (['drop', 'dropped'] as const);
  return [withStep(accepted.with({ verdict }), place, `${effect}: there is no endpoint`)];
}

/**
 * The portals and sockets that these entries get.
 * @param address where the sockets are
 * @param proxyPortOf the proxy port of a service port, where one is open; else one is made up
 */
export function desiredUserspace(
  entries: Iterable<ForwardingEntry>,
  address: ProxyAddress,
  proxyPortOf: (key: ServicePortKey) => number | undefined = () => undefined,
) {
  const desired = new IptablesDesiredState();
  const ports = new Map<string, ProxiedPort>();
  for (const entry of entries) {
    const { name, key, frontends } = entry;
    // The process has no sockets for SCTP.
    if (name.protocol === 'SCTP') continue;
    const proxyPort = proxyPortOf(key) ?? unused(ports, name.protocol);
    ports.set(`${proxyPort}/${name.protocol}`, proxied(entry));
    desired.replace(key, compilePortals(entry, frontends, proxyPort, address));
  }
  const rules = desiredRules(new DesiredTables(desired, USERSPACE_BASE_RULES));
  const reached = address.listen ?? address.host;
  const find = (protocol: string, port: number) => ports.get(`${port}/${protocol}`);
  return {
    walk(packet: Packet, environment: PacketEnvironment): readonly PacketPath[] {
      const own = reached === undefined ? [] : [reached];
      const localAddresses = new Set([...environment.localAddresses, ...own]);
      return walkProxied(rules, find, packet, { ...environment, localAddresses });
    },
  };
}

function unused(ports: ReadonlyMap<string, ProxiedPort>, protocol: string): number {
  let port = 1;
  while (ports.has(`${port}/${protocol}`)) port++;
  return port;
}
