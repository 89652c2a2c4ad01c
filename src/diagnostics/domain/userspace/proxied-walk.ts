import type { TablesCourse } from '../iptables/course.js';
import type { RuleSource } from '../iptables/rule-source.js';
import type { DeviceTowards } from '../iptables/known-devices.js';
import { walkTables } from '../iptables/tables-walk.js';
import { hostPort } from '../../../domain/net/address.js';
import type { Packet, PacketEnvironment } from '../trace/packet.js';
import type { TracedEnding } from '../trace/traced-ending.js';
import { shareOf, withStep } from '../walk/course.js';
import { localTo } from '../walk/local-addresses.js';
import { shareText } from '../walk/turn.js';
import type { FindProxiedPort, ProxiedPort } from '../../../domain/userspace/proxied-port.js';

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
  const isHere = localTo(environment, packet);
  return walkTables(rules, packet, environment, {
    ...(devices && { devices }),
    process: (course) => {
      const { isTranslated, destination, port } = course;
      const proxied = isTranslated && isHere(destination) ? find(packet.protocol, port) : undefined;
      return proxied ? passedOn(course, proxied) : [course];
    },
  });
}

const OWN_CONNECTION = 'over a connection of its own, which rewrites the source to an address of this node';

function passedOn(
  course: TablesCourse,
  { servicePort, endpoints, isSticky }: ProxiedPort,
): readonly TablesCourse[] {
  const { protocol } = course.packet;
  const accepted = course.with({ hook: 'process', isSticky });
  const place = { where: 'proxy socket', rule: `port ${course.port}/${protocol}`, servicePort };
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
    protocol === 'TCP' ? (['refused', 'closed at once'] as const) : (['dropped', 'dropped'] as const);
  return [withStep(accepted.with({ verdict }), place, `${effect}: there is no endpoint`)];
}
