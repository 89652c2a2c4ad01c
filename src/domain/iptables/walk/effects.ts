import { hostPort } from '../../net/address.js';
import type { Course, Surroundings } from './course.js';
import type { Target } from './target.js';

/** What a target does to a packet that it is applied to. */
export interface Effect {
  readonly course: Course;
  /** Where the packet goes on: at the next rule, in the calling chain, or nowhere else in this table. */
  readonly to: 'next-rule' | 'caller' | 'end';
  /** For people. Undefined where nothing happened that could matter to the packet. */
  readonly text: string | undefined;
}

/** Applies every target but a chain. */
export function effectOf(
  target: Exclude<Target, { kind: 'other' }>,
  course: Course,
  { isLocal, ownAddress }: Surroundings,
): Effect {
  switch (target.kind) {
    case 'pass':
      return { course, to: 'next-rule', text: undefined };
    case 'accept':
      return { course, to: 'end', text: 'accepted by this table' };
    case 'return':
      return { course, to: 'caller', text: 'leaves this chain' };
    case 'drop':
      return { course: { ...course, verdict: 'dropped' }, to: 'end', text: 'dropped' };
    case 'reject':
      return {
        course: { ...course, verdict: 'refused' },
        to: 'end',
        text: `refused with ${target.answer}`,
      };
    case 'dnat':
      return translated(course, target.address ?? course.destination, target.port ?? course.port);
    case 'redirect':
      return redirected(course, target.port ?? course.port, ownAddress);
    case 'snat':
      return sourceRewritten(course, `rewrites the source to ${target.addresses}`);
    case 'masquerade': {
      // With this address the node sends packets to itself; with which one elsewhere, routes decide.
      const source = isLocal(course.destination) ? course.destination : course.source;
      return sourceRewritten(
        { ...course, source },
        'masqueraded: rewrites the source to an address of this node',
      );
    }
    case 'mark':
      return marked(course, ((course.mark & ~target.mask) ^ target.value) >>> 0);
    case 'mark-connection':
      return goOn({
        ...course,
        connectionMark: ((course.connectionMark & ~target.mask) ^ target.value) >>> 0,
      });
    case 'save-mark': {
      const { packetMask, connectionMask } = target;
      const kept = course.connectionMark & ~connectionMask;
      return goOn({ ...course, connectionMark: (kept ^ (course.mark & packetMask)) >>> 0 });
    }
    case 'restore-mark': {
      const { packetMask, connectionMask } = target;
      const kept = course.mark & ~packetMask;
      return marked(course, (kept ^ (course.connectionMark & connectionMask)) >>> 0);
    }
    case 'untrack':
      return {
        course: { ...course, isUntracked: true },
        to: 'next-rule',
        text: 'not tracked, so that table nat leaves it alone',
      };
  }
}

function goOn(course: Course): Effect {
  return { course, to: 'next-rule', text: undefined };
}

function translated(course: Course, destination: string, port: number): Effect {
  return {
    course: { ...course, destination, port, isTranslated: true },
    to: 'end',
    text: `the destination becomes ${hostPort(destination, port)}`,
  };
}

function sourceRewritten(course: Course, text: string): Effect {
  return { course: { ...course, isMasqueraded: true }, to: 'end', text };
}

function marked(course: Course, mark: number): Effect {
  const text = mark === course.mark ? undefined : `the mark becomes 0x${mark.toString(16)}`;
  return { course: { ...course, mark }, to: 'next-rule', text };
}

/** Packets that come in get an address of their interface, which one is not known; those of the node itself get loopback. */
function redirected(course: Course, port: number, ownAddress: string): Effect {
  const loopback = course.packet.family === 'IPv4' ? '127.0.0.1' : '::1';
  const destination = course.inputInterface === '' ? loopback : ownAddress;
  return { ...translated(course, destination, port), text: `redirected to port ${port} of this node` };
}

/** A share of packets, for people: `1 in 3`, or in percent. */
export function shareText(share: number): string {
  const count = Math.round(1 / share);
  return Math.abs(1 / count - share) < 1e-6 ? `1 in ${count}` : `${(share * 100).toFixed(1)} %`;
}
