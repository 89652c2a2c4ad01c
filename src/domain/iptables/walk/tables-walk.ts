import type { IpSet } from '../../ipset/ip-set.js';
import { isLoopback } from '../../net/address.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import { ChainWalk } from './chain-walk.js';
import { startOf, stepsOf, type Course, type Surroundings } from './course.js';
import type { DeviceTowards } from './known-devices.js';
import type { RuleSource } from './rule-source.js';

/** What takes packets on their way through the tables, other than their rules: IPVS. */
export interface Interceptor {
  /**
   * Asked for packets to this node, after tables mangle, filter and security, and for those that it sends, after table nat.
   * @returns all that may become of the packet, with its new destination or a verdict; undefined when it is not taken
   */
  intercept(course: Course, hook: 'input' | 'output'): readonly Course[] | undefined;
}

/** What belongs to a walk besides the tables. */
export interface TablesWalkOptions {
  /** What match `set` can look up. */
  readonly sets?: ReadonlyMap<string, IpSet>;
  /** Addresses that the node has besides those of the environment. */
  readonly furtherAddresses?: ReadonlySet<string>;
  readonly devices?: DeviceTowards;
  readonly interceptor?: Interceptor;
}

type Hook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/**
 * Sends a packet, the first of its connection, through the tables of iptables, hook by hook, as the kernel would, and returns
 * every possible ending: where rules apply by chance, with each chance. What a rule of another program does that cannot be
 * understood is told in a step, and the packet goes on as if the rule did not hold.
 */
export function walkTables(
  rules: RuleSource,
  packet: Packet,
  environment: PacketEnvironment,
  { sets = new Map(), furtherAddresses, devices = () => undefined, interceptor }: TablesWalkOptions = {},
): readonly TracedEnding[] {
  const { localAddresses, remembered } = environment;
  const { family } = packet;
  const surroundings: Surroundings = {
    isLocal: (address) =>
      localAddresses.has(address) ||
      furtherAddresses?.has(address) === true ||
      isLoopback({ family, text: address }),
    ownAddress: ownAddressIn(localAddresses, packet),
    deviceTowards: devices,
    sets,
    remembers: (list, address) => remembered?.get(list)?.has(address) === true,
  };
  const walk = new TablesWalk(new ChainWalk(rules, surroundings), surroundings, interceptor);
  const start = startOf(packet);
  return (packet.inputInterface === undefined ? walk.leave(start) : walk.arrive(start)).map(endingOf);
}

/** The order of hooks, and of the tables at each. */
class TablesWalk {
  constructor(
    private readonly chains: ChainWalk,
    private readonly surroundings: Surroundings,
    private readonly interceptor: Interceptor | undefined,
  ) {}

  /** A packet that comes in through an interface. */
  arrive(course: Course): readonly Course[] {
    return this.hook('prerouting', ['raw', 'mangle', 'nat'], [course]).flatMap((routed) =>
      this.surroundings.isLocal(routed.destination) ? this.enter(routed) : this.forward(routed),
    );
  }

  /** A packet that the node itself sends. One to itself leaves through `lo` and comes in again, without another translation. */
  leave(course: Course): readonly Course[] {
    const leaving = { ...course, isLeaving: true };
    return this.hook('output', ['raw', 'mangle', 'nat'], [leaving])
      .flatMap((routed) => this.intercept(routed, 'output') ?? [routed])
      .flatMap((each) =>
        this.isSentAnew(each) ? this.passOutput(each) : this.hook('output', ['filter', 'security'], [each]),
      )
      .flatMap((sent) => this.depart(sent))
      .flatMap((sent) => (this.surroundings.isLocal(sent.destination) ? this.receive(sent) : [sent]));
  }

  /** IPVS sends what it took on its way as if that came from this node, unless it is for this node itself. */
  private isSentAnew({ virtualServer, destination }: Course): boolean {
    return virtualServer !== undefined && !this.surroundings.isLocal(destination);
  }

  private receive(course: Course): readonly Course[] {
    const come = { ...course, inputInterface: 'lo', isLeaving: false };
    return this.hook('prerouting', ['raw', 'mangle', 'nat'], [come]).flatMap((each) => this.enter(each));
  }

  private enter(course: Course): readonly Course[] {
    return this.hook('input', ['mangle', 'filter', 'security'], [course]).flatMap((admitted) =>
      (this.intercept(admitted, 'input') ?? [admitted]).flatMap((each) =>
        this.isSentAnew(each) ? this.resend(each) : this.hook('input', ['nat'], [each]),
      ),
    );
  }

  private resend(course: Course): readonly Course[] {
    return this.passOutput({ ...course, inputInterface: '', isLeaving: true }).flatMap((sent) =>
      this.depart(sent),
    );
  }

  private passOutput(course: Course): readonly Course[] {
    return this.hook('output', ['raw', 'mangle', 'nat', 'filter', 'security'], [course]);
  }

  private forward(course: Course): readonly Course[] {
    const leaving = { ...course, isLeaving: true };
    return this.hook('forward', ['mangle', 'filter', 'security'], [leaving]).flatMap((sent) =>
      this.depart(sent),
    );
  }

  private depart(course: Course): readonly Course[] {
    return this.hook('postrouting', ['mangle', 'nat'], [course]);
  }

  private intercept(course: Course, hook: 'input' | 'output'): readonly Course[] | undefined {
    return course.verdict || course.virtualServer ? undefined : this.interceptor?.intercept(course, hook);
  }

  private hook(hook: Hook, tables: readonly string[], start: readonly Course[]): readonly Course[] {
    let courses = start;
    for (const table of tables) {
      courses = courses.flatMap((course) => {
        if (course.verdict) return [course];
        if (table !== 'nat') return this.chains.builtIn({ hook, table }, hook.toUpperCase(), course);
        return this.translate(hook, course);
      });
    }
    return courses;
  }

  /** Table nat is asked once for the destination of a connection and once for its source. */
  private translate(hook: Hook, course: Course): readonly Course[] {
    const settles = hook === 'prerouting' || hook === 'output' ? 'destinationIsSettled' : 'sourceIsSettled';
    if (course.isUntracked || course[settles]) return [course];
    const after = this.chains.builtIn({ hook, table: 'nat' }, hook.toUpperCase(), course);
    return after.map((each) => ({ ...each, [settles]: true }));
  }
}

/** One that is no loopback address, if there is one. */
function ownAddressIn(addresses: ReadonlySet<string>, { family }: Packet): string {
  for (const text of addresses)
    if (text.includes(':') === (family === 'IPv6') && !isLoopback({ family, text })) return text;
  return family === 'IPv4' ? '127.0.0.1' : '::1';
}

function endingOf(course: Course): TracedEnding {
  const { verdict, isTranslated, virtualServer, destination: address, port } = course;
  const { probability, isMasqueraded: masquerade, isSticky } = course;
  const isSent = verdict === undefined && (isTranslated || virtualServer !== undefined);
  return {
    verdict: verdict ?? (isSent ? 'sent' : 'untouched'),
    ...(isSent && { endpoint: { address, port } }),
    probability,
    masquerade,
    sticky: isSent && isSticky,
    steps: stepsOf(course),
  };
}
