import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../domain/model/endpoint.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { LocalAddresses, PacketForwarding, Route, Routes } from '../ports/node/network.js';

/** A setting of this machine's kernel that keeps packets from the endpoints of a service port, or replies from clients. */
export interface ForwardingObstacle {
  /** `not-forwarded`: packets of pods and other machines do not arrive. `bridged`: pods on one bridge get no usable replies from each other. */
  readonly kind: 'not-forwarded' | 'bridged';
  /** For people. */
  readonly text: string;
  /** Whether it stops traffic to this endpoint of the service port. */
  affects(endpoint: Endpoint): boolean;
}

/** The sources of obstacles. */
export interface ForwardingSources {
  readonly forwarding: PacketForwarding;
  readonly routes: Routes;
  readonly addresses: Pick<LocalAddresses, 'list'>;
}

/** How often the settings are read for the log, and the maximum age of those that `status` shows. Milliseconds. */
const PERIOD = 60_000;
const FRESH = 1_000;
/** The device is looked up for at most this many endpoints: those of a node share one, or have one each. */
const MOST_LOOKUPS = 16;

/** Packets that come in and go out again. */
export interface Passage {
  readonly family: IpFamily;
  /** The device through which they come in. */
  readonly input: string;
  /** Where they go out; undefined without a route. */
  readonly route: Route | undefined;
  /** The rules change their destination and not their source, so that replies must pass them, too. */
  readonly keepsSource: boolean;
}

/** Why packets that come in through a device and are sent to an address do not lead to a connection; undefined if they may. */
export async function passageObstacle(
  forwarding: PacketForwarding,
  { family, input, route, keepsSource }: Passage,
): Promise<string | undefined> {
  const off = forwarding.disabledBy(family, input) ?? forwarding.disabledBy(family, route?.device);
  if (off !== undefined) return notForwarded(off);
  if (!keepsSource || !route || route.device !== input || route.gateway !== undefined) return undefined;
  const unfiltered = await forwarding.unfilteredBy(family, input);
  return unfiltered === undefined ? undefined : bridged(unfiltered, input);
}

/**
 * Use case CheckForwarding: whether the kernel settings of this machine let it forward packets to endpoints. They matter only for
 * service ports with an endpoint at an address of another machine or a pod. Changes nothing; each obstacle is logged once.
 */
export class ForwardingObstacles {
  private found: ReadonlyMap<IpFamily, ForwardingObstacle> = new Map();
  private checkedAt: number | undefined;
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(
    private readonly tables: readonly {
      readonly family: IpFamily;
      readonly table: { entries(): Iterable<ForwardingEntry> };
    }[],
    private readonly sources: ForwardingSources,
    private readonly clock: Clock,
    private readonly logger: Logger,
    /** Called when a check has found others than the one before. */
    private readonly changed: () => void = () => {},
  ) {}

  /** The obstacles that the last check found, for people. */
  get reasons(): readonly string[] {
    return Array.from(this.found, ([family, { text }]) => `${family}: ${text}`);
  }

  /** Why packets of pods and other machines are not forwarded to endpoints that the family has; undefined if they are, by the last check. */
  notForwarded(family: IpFamily): string | undefined {
    const found = this.found.get(family);
    return found?.kind === 'not-forwarded' ? found.text : undefined;
  }

  /** Checks now, and from time to time. To be called once there is something to forward. */
  start(): void {
    if (this.isStopped) return;
    void this.renew();
    this.timer = this.clock.after(PERIOD, () => this.start());
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await Promise.all([this.sources.routes.close(), this.sources.forwarding.close()]);
  }

  /** Checks again, unless it has just done so. Never rejects. */
  async renew(): Promise<void> {
    const now = this.clock.steady();
    if (this.checkedAt !== undefined && now < this.checkedAt + FRESH) return;
    this.checkedAt = now;
    const found = new Map<IpFamily, ForwardingObstacle>();
    for (const { family, table } of this.tables)
      for (const one of await this.ofFamily(family, table.entries())) found.set(family, one);
    const former = this.reasons.join();
    for (const [family, { text: problem }] of found)
      if (this.found.get(family)?.text !== problem)
        this.logger.warn({ family, problem }, 'a kernel setting stops traffic to Services');
    for (const [family, { text: problem }] of this.found)
      if (!found.has(family))
        this.logger.info({ family, problem }, 'a kernel setting no longer stops traffic to Services');
    this.found = found;
    if (this.reasons.join() !== former) this.changed();
  }

  /** What the last check found, if it stops traffic to an endpoint of the service port. Cheap. */
  known({ family, endpoints }: ForwardingEntry): readonly ForwardingObstacle[] {
    const found = this.found.get(family);
    return found && endpoints.reachable.some((endpoint) => found.affects(endpoint)) ? [found] : [];
  }

  /** The obstacles of one service port, at most one of each kind. Never rejects. */
  of(entry: ForwardingEntry): Promise<readonly ForwardingObstacle[]> {
    return this.ofFamily(entry.family, [entry]);
  }

  private async ofFamily(
    family: IpFamily,
    entries: Iterable<ForwardingEntry>,
  ): Promise<readonly ForwardingObstacle[]> {
    const { forwarding, routes, addresses } = this.sources;
    const off = forwarding.disabledBy(family);
    const devices = new Set<string>();
    let lookups = 0;
    try {
      const own = new Set(addresses.list());
      const isElsewhere = ({ address }: Endpoint): boolean => !own.has(address);
      const isOnNode = (endpoint: Endpoint): boolean => endpoint.isLocal && isElsewhere(endpoint);
      for (const { endpoints, localEndpoints } of entries) {
        if (off !== undefined) {
          if (endpoints.reachable.some(isElsewhere))
            return [{ kind: 'not-forwarded', text: notForwarded(off), affects: isElsewhere }];
          continue;
        }
        for (const endpoint of localEndpoints.filter(isElsewhere)) {
          if (lookups++ === MOST_LOOKUPS) return [];
          const route = await routes.to(endpoint.address);
          if (!route || route.gateway !== undefined || devices.has(route.device)) continue;
          devices.add(route.device);
          const unfiltered = await forwarding.unfilteredBy(family, route.device);
          if (unfiltered !== undefined)
            return [{ kind: 'bridged', text: bridged(unfiltered, route.device), affects: isOnNode }];
        }
      }
    } catch (error) {
      this.logger.debug({ family, error }, 'cannot read how this machine forwards packets');
    }
    return [];
  }
}

function notForwarded(setting: string): string {
  return `${setting}: packets of pods and of other machines are not forwarded to endpoints; set it to 1`;
}

function bridged(setting: string, bridge: string): string {
  return (
    `${setting}: replies between pods on bridge ${bridge} bypass the rules and keep the address of the endpoint, ` +
    'so clients on it cannot use Services whose endpoints are there; load br_netfilter and set it to 1'
  );
}
