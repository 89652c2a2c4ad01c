import type { RuleSource } from '../../iptables/walk/rule-source.js';
import type { DeviceTowards } from '../../iptables/walk/known-devices.js';
import { shareText } from '../../iptables/walk/effects.js';
import { walkTables } from '../../iptables/walk/tables-walk.js';
import type { Protocol } from '../../model/service-port-name.js';
import { hostPort, isLoopback } from '../../net/address.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { Step } from '../../trace/trace.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import type { FindProxiedPort, ProxiedPort } from './proxied-port.js';

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
): readonly TracedEnding[] {
  const { family } = packet;
  const isHere = (address: string) =>
    environment.localAddresses.has(address) || isLoopback({ family, text: address });
  return walkTables(rules, packet, environment, { ...(devices && { devices }) }).flatMap((ending) => {
    const { endpoint } = ending;
    const port = endpoint && isHere(endpoint.address) ? find(packet.protocol, endpoint.port) : undefined;
    return port ? passedOn(ending, port, packet.protocol) : [ending];
  });
}

const OWN_CONNECTION = 'over a connection of its own, which rewrites the source to an address of this node';

function passedOn(
  ending: TracedEnding,
  { servicePort, endpoints, isSticky }: ProxiedPort,
  protocol: Protocol,
): readonly TracedEnding[] {
  const step = (effect: string): Step => ({
    hook: 'process',
    where: 'proxy socket',
    rule: `port ${ending.endpoint!.port}/${protocol}`,
    effect,
    servicePort,
  });
  if (endpoints.length === 0) return [withoutEndpoint(ending, protocol, step)];
  const share = 1 / endpoints.length;
  const inTurn = endpoints.length > 1 ? `, ${shareText(share)} in turn` : '';
  return endpoints.map(({ address, port }) => ({
    verdict: 'sent',
    endpoint: { address, port },
    probability: ending.probability * share,
    masquerade: true,
    sticky: isSticky,
    steps: [...ending.steps, step(`passed on to ${hostPort(address, port)}${inTurn}, ${OWN_CONNECTION}`)],
  }));
}

/** A TCP connection is closed as soon as it is accepted; datagrams are lost. */
function withoutEndpoint(
  { probability, masquerade, steps }: TracedEnding,
  protocol: Protocol,
  step: (effect: string) => Step,
): TracedEnding {
  const isRefused = protocol === 'TCP';
  const effect = isRefused ? 'closed at once: there is no endpoint' : 'dropped: there is no endpoint';
  return {
    verdict: isRefused ? 'refused' : 'dropped',
    probability,
    masquerade,
    sticky: false,
    steps: [...steps, step(effect)],
  };
}
