import type { TablesCourse } from '../iptables/course.js';
import { shareOf, withStep, type Place } from '../walk/course.js';
import type { Watch } from '../walk/watch.js';
import { sendsTo, shareText } from '../walk/turn.js';
import { serverLine } from '../../../domain/ipvs/virtual-server.js';
import { isSticky, sharesOf, type Share } from './scheduling.js';
import type { FindServer, WalkedServer } from './walked-server.js';

/** What IPVS makes of a packet that comes to it on its way through the tables. */
export function balanced(find: FindServer, course: TablesCourse, watch?: Watch): readonly TablesCourse[] {
  const { destination: address, packet } = course;
  const at = (port: number) => find({ address, port, protocol: packet.protocol });
  // One for the port, else one for all ports of the address.
  const found = at(course.port) ?? at(0);
  if (!found) return [course];
  const shares = sharesOf(found.server, found.realServers);
  if (isSticky(found.server)) watch?.affinity(found.server.persistenceSeconds);
  if (shares.length > 0) return shares.map((share) => sentOn(course, found, share));
  const why = found.realServers.length === 0 ? 'it has no real server' : 'all its real servers have weight 0';
  return [withStep(course.with({ verdict: 'refused' }), placeOf(found), `refused: ${why}`)];
}

function sentOn(
  course: TablesCourse,
  found: WalkedServer,
  { realServer: { address, port: realPort }, share }: Share,
): TablesCourse {
  const { server } = found;
  const port = realPort === 0 ? course.port : realPort;
  const chosen = share < 1 ? `, ${shareText(share)} (${server.scheduler})` : '';
  const told = withStep(shareOf(course, share), placeOf(found), `${sendsTo(address, port)}${chosen}`);
  return told.with({
    destination: address,
    port,
    virtualServer: { address: server.address, port: course.port },
    isSticky: isSticky(server),
  });
}

function placeOf({ server, servicePort }: WalkedServer): Place {
  return {
    where: 'ipvs',
    get rule() {
      return serverLine(server);
    },
    ...(servicePort !== undefined && { servicePort }),
  };
}
