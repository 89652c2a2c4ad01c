import type { IpSet } from '../../ipset/ip-set.js';
import type { Protocol } from '../../model/service-port-name.js';
import type { Packet } from '../../trace/packet.js';
import type { Step } from '../../trace/trace.js';
import type { DeviceTowards } from './known-devices.js';

/** A packet in flight: what rules have made of it so far. */
export interface Course {
  /** As it was sent. */
  readonly packet: Packet;
  readonly source: string;
  readonly destination: string;
  readonly port: number;
  /** Empty if there is none. */
  readonly inputInterface: string;
  /** It was routed, and goes out through an interface. */
  readonly isLeaving: boolean;
  readonly mark: number;
  /** The mark of its connection. */
  readonly connectionMark: number;
  /** Connection tracking leaves it alone, and with that table nat. */
  readonly isUntracked: boolean;
  /** Table nat is asked once for each end of a connection. */
  readonly destinationIsSettled: boolean;
  readonly sourceIsSettled: boolean;
  /** Its destination was rewritten. */
  readonly isTranslated: boolean;
  /** Its source was rewritten. */
  readonly isMasqueraded: boolean;
  /** Which virtual server of IPVS took it. */
  readonly virtualServer?: { readonly address: string; readonly port: number };
  readonly isSticky: boolean;
  readonly verdict: 'refused' | 'dropped' | undefined;
  readonly probability: number;
  readonly steps: StepTrail | undefined;
}

/** The last step and those before it. Courses that part share the steps until then. */
export interface StepTrail {
  readonly step: Step;
  readonly before: StepTrail | undefined;
}

/** What conditions need to know besides the packet. */
export interface Surroundings {
  readonly isLocal: (address: string) => boolean;
  /** An address of the node, of the packet's family. */
  readonly ownAddress: string;
  readonly deviceTowards: DeviceTowards;
  /** The IP sets that are known, by name. */
  readonly sets: ReadonlyMap<string, IpSet>;
  /** Whether the list of match `recent` holds the address. */
  readonly remembers: (list: string, address: string) => boolean;
}

/** The beginning of a packet's course. */
export function startOf(packet: Packet): Course {
  return {
    packet,
    source: packet.source,
    destination: packet.destination,
    port: packet.destinationPort,
    inputInterface: packet.inputInterface ?? '',
    isLeaving: false,
    mark: 0,
    connectionMark: 0,
    isUntracked: false,
    destinationIsSettled: false,
    sourceIsSettled: false,
    isTranslated: false,
    isMasqueraded: false,
    isSticky: false,
    verdict: undefined,
    probability: 1,
    steps: undefined,
  };
}

export function protocolOf({ packet }: Course): Lowercase<Protocol> {
  return packet.protocol.toLowerCase() as Lowercase<Protocol>;
}

/** The course after one more step. */
export function withStep(course: Course, step: Step): Course {
  return { ...course, steps: { step, before: course.steps } };
}

/** All steps of a course, the first one first. */
export function stepsOf({ steps }: Course): readonly Step[] {
  const list: Step[] = [];
  for (let trail = steps; trail; trail = trail.before) list.push(trail.step);
  return list.reverse();
}
