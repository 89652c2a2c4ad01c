import { getOrMake } from '../../../domain/model/maps.js';
import type { Course, HookName } from './course.js';

/** What packets pass at a hook: a base chain, a built-in chain, IPVS. All that may become of a packet there. */
export type Station<C> = (course: C) => readonly C[];

/** Leads packets from hook to hook, as the kernel does (docs/spec/nftables.md §7). */
export class HookPath<C extends Course> {
  /** Where rules leave it to chance, a packet comes to a hook in many ways. */
  private readonly stations = new Map<HookName, readonly Station<C>[]>();

  /**
   * @param stationsAt what packets pass at a hook, in order
   * @param isLocal whether an address is one of the node's own
   */
  constructor(
    private readonly stationsAt: (hook: HookName) => readonly Station<C>[],
    private readonly isLocal: (address: string) => boolean,
  ) {}

  /** Where a packet ends that comes in through an interface, or without one is sent by the node itself. */
  follow(course: C): readonly C[] {
    return course.inputInterface === '' ? this.leave(course) : this.arrive(course);
  }

  private arrive(course: C): readonly C[] {
    return this.at('prerouting', course).flatMap((routed) =>
      this.isLocal(routed.destination)
        ? this.enter(routed)
        : this.at('forward', routed).flatMap((forwarded) => this.at('postrouting', forwarded)),
    );
  }

  /** One to the node itself leaves through `lo` and comes in again. */
  private leave(course: C): readonly C[] {
    return this.at('output', course)
      .flatMap((routed) => (routed.isSentAnew ? this.at('output', goneOn(routed)) : [routed]))
      .flatMap((routed) => this.at('postrouting', routed))
      .flatMap((sent) => (this.isLocal(sent.destination) ? this.receive(sent) : [sent]));
  }

  private receive(course: C): readonly C[] {
    const come = course.with({ inputInterface: 'lo' });
    return this.at('prerouting', come).flatMap((each) => this.enter(each));
  }

  private enter(course: C): readonly C[] {
    return this.at('input', course).flatMap((entered) =>
      entered.isSentAnew
        ? this.at('output', goneOn(entered).with({ inputInterface: '' })).flatMap((sent) =>
            this.at('postrouting', sent),
          )
        : [entered],
    );
  }

  private at(hook: HookName, course: C): readonly C[] {
    if (course.verdict) return [course];
    const stations = getOrMake(this.stations, hook, () => this.stationsAt(hook));
    return through(stations, course.hook === hook ? course : course.with({ hook }));
  }
}

/** The stations at which the destination of a connection is translated, or its source: each once, and by the first that does. */
export function translating<C extends Course>(...stations: readonly Station<C>[]): Station<C> {
  return (course) => {
    const atDestination = course.hook === 'prerouting' || course.hook === 'output';
    if (atDestination ? course.destinationIsSettled : course.sourceIsSettled) return [course];
    const isDone = (each: C) => (atDestination ? each.isTranslated : each.isMasqueraded);
    return through(stations, course, isDone).map((after) =>
      after.with(atDestination ? { destinationIsSettled: true } : { sourceIsSettled: true }),
    );
  };
}

/** Through one after the other, until something stops it. */
function through<C extends Course>(
  stations: readonly Station<C>[],
  course: C,
  isDone: (course: C) => boolean = () => false,
): readonly C[] {
  const isStopped = (each: C): boolean => each.verdict !== undefined || each.isSentAnew || isDone(each);
  let courses: readonly C[] = [course];
  for (const station of stations) {
    const [only] = courses;
    // Most packets go one way.
    if (courses.length === 1) courses = isStopped(only!) ? courses : station(only!);
    else courses = courses.flatMap((each) => (isStopped(each) ? [each] : station(each)));
  }
  return courses;
}

function goneOn<C extends Course>(course: C): C {
  return course.with({ isSentAnew: false });
}
