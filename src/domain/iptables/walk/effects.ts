import {
  accepted,
  dropped,
  marked,
  nextRule,
  refused,
  sent,
  sourceRewritten,
  type Turn,
} from '../../walk/turn.js';
import type { Surroundings, TablesCourse } from './course.js';
import type { Target } from './target.js';

/** What every target but a chain does to a packet that it is applied to. */
export function effectOf(
  target: Exclude<Target, { kind: 'other' }>,
  course: TablesCourse,
  { isLocal, ownAddress }: Surroundings,
): Turn<TablesCourse> {
  const { mark, connectionMark, destination, port } = course;
  switch (target.kind) {
    case 'pass':
      return nextRule(course);
    case 'accept':
      return accepted(course);
    case 'return':
      return { course, to: 'caller', effect: 'leaves this chain' };
    case 'drop':
      return dropped(course);
    case 'reject':
      return refused(course, target.answer);
    case 'dnat':
      return sent(course, target.address ?? destination, target.port ?? port);
    case 'redirect':
      return redirected(course, target.port ?? port, ownAddress);
    case 'snat':
      return sourceRewritten(course, target.addresses);
    case 'masquerade':
      // With this address the node sends packets to itself; with which one elsewhere, routes decide.
      return sourceRewritten({ ...course, source: isLocal(destination) ? destination : course.source });
    case 'mark':
      return marked(course, ((mark & ~target.mask) ^ target.value) >>> 0);
    case 'mark-connection':
      return connectionMarked(course, (connectionMark & ~target.mask) ^ target.value);
    case 'save-mark': {
      const { packetMask, connectionMask } = target;
      return connectionMarked(course, (connectionMark & ~connectionMask) ^ (mark & packetMask));
    }
    case 'restore-mark': {
      const { packetMask, connectionMask } = target;
      return marked(course, ((mark & ~packetMask) ^ (connectionMark & connectionMask)) >>> 0);
    }
    case 'untrack':
      return {
        ...nextRule({ ...course, isUntracked: true }),
        effect: 'not tracked, so that table nat leaves it alone',
      };
  }
}

function connectionMarked(course: TablesCourse, mark: number): Turn<TablesCourse> {
  return nextRule({ ...course, connectionMark: mark >>> 0 });
}

/** Packets that come in get an address of their interface, which one is not known; those of the node itself get loopback. */
function redirected(course: TablesCourse, port: number, ownAddress: string): Turn<TablesCourse> {
  const loopback = course.packet.family === 'IPv4' ? '127.0.0.1' : '::1';
  const destination = course.inputInterface === '' ? loopback : ownAddress;
  return { ...sent(course, destination, port), effect: `redirected to port ${port} of this node` };
}
