import type { Packet } from '../trace/packet.js';
import type { Step } from '../trace/trace.js';
import type { TracedEnding } from '../trace/traced-ending.js';

/** The hooks of IP. */
export type HookName = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** What rules have made of a packet so far. */
export type CourseState = Omit<Course, 'with'>;

/**
 * A packet in flight: what rules have made of it so far. Walks copy little else, and objects that spreads have made take many times
 * as long to copy as those of a class.
 */
export class Course {
  /** As it was sent. */
  readonly packet: Packet;
  /** Where it is now, or was last. The process of mode userspace stands where the kernel has no hook any more. */
  readonly hook: HookName | 'process';
  readonly source: string;
  readonly destination: string;
  readonly port: number;
  /** Empty if there is none. */
  readonly inputInterface: string;
  readonly mark: number;
  /** Its destination was rewritten. */
  readonly isTranslated: boolean;
  /** Its source was rewritten. */
  readonly isMasqueraded: boolean;
  /** It was asked where to translate each end of the connection to, which happens once. */
  readonly destinationIsSettled: boolean;
  readonly sourceIsSettled: boolean;
  /** IPVS took it, and sends it on its way as if it came from this node. */
  readonly isSentAnew: boolean;
  /** The rules send the client's next connection to the same endpoint. */
  readonly isSticky: boolean;
  /** What its client is remembered as, by the name of a set or list; only where the walk is watched. */
  readonly memory: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  readonly verdict: 'refused' | 'dropped' | undefined;
  /** How likely it comes this way, between 0 and 1. */
  readonly probability: number;
  readonly steps: readonly Step[];
  /** Steps are not kept, but for uncertain ones. */
  readonly isSilent: boolean;
  /** The service port whose frontend the packet was sent to, once a rule has found it. */
  readonly servicePort: string | undefined;

  constructor(state: CourseState) {
    this.packet = state.packet;
    this.hook = state.hook;
    this.source = state.source;
    this.destination = state.destination;
    this.port = state.port;
    this.inputInterface = state.inputInterface;
    this.mark = state.mark;
    this.isTranslated = state.isTranslated;
    this.isMasqueraded = state.isMasqueraded;
    this.destinationIsSettled = state.destinationIsSettled;
    this.sourceIsSettled = state.sourceIsSettled;
    this.isSentAnew = state.isSentAnew;
    this.isSticky = state.isSticky;
    this.memory = state.memory;
    this.verdict = state.verdict;
    this.probability = state.probability;
    this.steps = state.steps;
    this.isSilent = state.isSilent;
    this.servicePort = state.servicePort;
  }

  /** The same packet, of which this is different now. */
  with(changes: Partial<CourseState>): this {
    return Object.assign(new Course(this), changes) as this;
  }
}

/** What packets meet: a rule, a virtual server. Most do nothing, so that the text of a rule may be made when it is asked for. */
export type Place = Pick<Step, 'where' | 'rule' | 'servicePort' | 'isForeign'>;

/**
 * The beginning of a packet's course.
 * @param isSilent steps are not kept
 */
export function startOf(packet: Packet, isSilent = false): CourseState {
  return {
    packet,
    hook: packet.inputInterface === undefined ? 'output' : 'prerouting',
    source: packet.source,
    destination: packet.destination,
    port: packet.destinationPort,
    inputInterface: packet.inputInterface ?? '',
    mark: 0,
    isTranslated: false,
    isMasqueraded: false,
    destinationIsSettled: false,
    sourceIsSettled: false,
    isSentAnew: false,
    isSticky: false,
    memory: undefined,
    verdict: undefined,
    probability: 1,
    steps: [],
    isSilent,
    servicePort: undefined,
  };
}

/** Whether it was routed, and goes out through an interface. */
export function isLeaving({ hook }: Course): boolean {
  return hook === 'forward' || hook === 'output' || hook === 'postrouting';
}

/** The course with what a rule did to it. What one rule does in a row is one step. */
export function withStep<C extends Course>(course: C, place: Place, effect: string, isUncertain = false): C {
  if (course.isSilent && !isUncertain) return silently(course, place);
  const { hook, steps } = course;
  const { where, rule, isForeign } = place;
  const last = steps.at(-1);
  const goesOn = last?.hook === hook && last.where === where && last.rule === rule;
  const servicePort = isForeign ? undefined : (place.servicePort ?? course.servicePort);
  const step: Step = {
    hook,
    where,
    rule,
    effect: goesOn ? `${last.effect}; ${effect}` : effect,
    ...(servicePort !== undefined && { servicePort }),
    ...(isForeign && { isForeign }),
    ...((isUncertain || (goesOn && last.isUncertain)) && { isUncertain: true }),
  };
  return course.with({ steps: [...(goesOn ? steps.slice(0, -1) : steps), step] });
}

function silently<C extends Course>(course: C, { servicePort, isForeign }: Place): C {
  const isKnown = isForeign || servicePort === undefined || servicePort === course.servicePort;
  return isKnown ? course : course.with({ servicePort });
}

/** The course of this share of its packets. */
export function shareOf<C extends Course>(course: C, share: number): C {
  return share === 1 ? course : course.with({ probability: course.probability * share });
}

/**
 * How a course ended.
 * @param isSent whether it was sent to an endpoint, unless a verdict stopped it
 */
export function endingOf(course: Course, isSent = course.isTranslated): TracedEnding {
  const { verdict, destination: address, port, probability, isMasqueraded, isSticky, memory, steps } = course;
  const { isSilent, servicePort } = course;
  const arrives = verdict === undefined && isSent;
  const ending: { -readonly [Key in keyof TracedEnding]: TracedEnding[Key] } = {
    verdict: verdict ?? (isSent ? 'sent' : 'untouched'),
    probability,
    masquerade: isMasqueraded,
    sticky: arrives && isSticky,
    steps,
  };
  if (arrives) ending.endpoint = { address, port };
  if (memory) ending.memory = memory;
  if (isSilent && servicePort !== undefined) ending.servicePort = servicePort;
  return ending;
}
