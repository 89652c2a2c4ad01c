import { LastingProblem } from '../../application/message-rate.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import {
  serverLines,
  realServerKey,
  sameService,
  virtualServerKey,
  type RealServer,
  type RealServerKey,
  type VirtualServer,
  type VirtualServerKey,
} from '../../domain/ipvs/virtual-server.js';
import type { Frontend } from '../../domain/forwarding/forwarding-entry.js';
import type { ServedAddress } from '../../domain/ipvs/service-port-rules.js';
import { cidrContains, type Cidr } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { ENOENT, ESRCH, NetlinkRequestError } from '../netlink/errors.js';
import { carryOut, expectDone, type Outcome, type PlannedStep } from './presence-table.js';
import type { StepOutcome, VirtualServers, VirtualServerStep } from './ipvs-kernel.js';

/**
 * The longest time that a real server drains, in milliseconds: a day, far beyond any pod's grace period. Without a limit, as in
 * kube-proxy, a real server would stay for good when the kernel's count of connections never reaches 0.
 */
export const LONGEST_DRAINING = 24 * 60 * 60 * 1000;

/** How often to check whether draining real servers still have connections, in milliseconds (docs/internals/spec/ipvs.md §8). */
export const SWEEP_PERIOD = 60_000;

/** Another program deleted it before us. */
function isGone({ kind }: VirtualServerStep, error: StepOutcome): boolean {
  const isDeletion = kind === 'delete' || kind === 'delete-real';
  return isDeletion && error instanceof NetlinkRequestError && [ENOENT, ESRCH].includes(error.errno);
}

interface KnownReal extends RealServer {
  /** Since when it drains, in milliseconds since 1970. */
  readonly since?: number | undefined;
}

interface KnownServer {
  readonly server: VirtualServer;
  readonly reals: Map<RealServerKey, KnownReal>;
}

type Planned = PlannedStep<VirtualServerStep, VirtualServerKey>;

/**
 * The kernel's virtual servers of one family, as they were read or written last.
 *
 * A real server of UDP or SCTP that is no longer desired is deleted immediately. One of TCP drains: it gets weight 0, so that it
 * gets no new connections, and `sweep` deletes it when it has none left or after LONGEST_DRAINING. If it is wanted again in the
 * meantime, it gets its weight back and keeps its connections. A later process sees by the weight that it drains. One that is wanted
 * with weight 0 stays.
 */
export class ServerTable {
  private known: Map<VirtualServerKey, KnownServer> = new Map();

  /** @param excluded virtual servers at these addresses are never deleted */
  private readonly sweepProblem = new LastingProblem();

  constructor(
    private readonly family: IpFamily,
    private readonly servers: VirtualServers,
    private readonly excluded: readonly Cidr[],
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Reads the kernel. Real servers that drain continue to. */
  async read(signal?: AbortSignal): Promise<void> {
    const listed = await this.servers.list(this.family, signal);
    const before = this.known;
    this.known = new Map();
    for (const { realServers, ...server } of listed) {
      const key = virtualServerKey(server);
      const former = before.get(key)?.reals;
      const reals = realServers.map((real): [RealServerKey, KnownReal] => [
        realServerKey(real),
        { ...real, since: former?.get(realServerKey(real))?.since },
      ]);
      this.known.set(key, { server, reals: new Map(reals) });
    }
  }

  keys(): Iterable<VirtualServerKey> {
    return this.known.keys();
  }

  has(key: VirtualServerKey): boolean {
    return this.known.has(key);
  }

  /** Whether it is there and has no real servers. */
  isIdle(key: VirtualServerKey): boolean {
    return this.known.get(key)?.reals.size === 0;
  }

  /** Whether it is never deleted. */
  isSpared(key: VirtualServerKey): boolean {
    const server = this.known.get(key)?.server;
    return server !== undefined && this.isExcluded(server);
  }

  /**
   * A virtual server and its real servers, as `ipvsadm -S -n` prints them; nothing if it is not there.
   * @param wanted the endpoints that it should have: others of TCP that get no new connections drain and are left out
   */
  lines(key: VirtualServerKey, wanted: ServedAddress['endpoints']): readonly string[] {
    const known = this.known.get(key);
    if (!known) return [];
    const { server, reals } = known;
    const needed = new Set(wanted.map(realServerKey));
    const isShown = (real: RealServer): boolean =>
      real.weight > 0 || server.protocol !== 'TCP' || needed.has(realServerKey(real));
    return serverLines([{ server, endpoints: [...reals.values()].filter(isShown) }]);
  }

  /** The virtual servers that may be deleted, with their real servers, except those of TCP that may drain. */
  removable(): readonly ServedAddress[] {
    return [...this.known.values()]
      .filter(({ server }) => !this.isExcluded(server))
      .map(({ server, reals }) => ({
        server,
        endpoints: [...reals.values()].filter(({ weight }) => weight > 0 || server.protocol !== 'TCP'),
      }));
  }

  /**
   * Creates or changes virtual servers so that they are as wanted. A refused one does not stop the others. Where the kernel rejects every
   * real server that is wanted, those before stay.
   */
  async make(wanted: ReadonlyMap<VirtualServerKey, ServedAddress>): Promise<Outcome<VirtualServerKey>> {
    const all = [...wanted];
    const made = await this.carryOut(all.flatMap(([key, served]) => this.additions(key, served)));
    const begun = new Set<VirtualServerKey>();
    const ends = all.flatMap(([key, { endpoints }]) =>
      this.serves(key, endpoints) ? this.ends(key, endpoints, begun) : [],
    );
    const ended = await this.carryOut(ends);
    const swept = await this.sweep(begun);
    return {
      written: made.written + ended.written + swept,
      refused: [...made.refused, ...ended.refused],
    };
  }

  /** Whether one of these gets new connections, or none is to. */
  private serves(key: VirtualServerKey, endpoints: ServedAddress['endpoints']): boolean {
    const reals = this.known.get(key)?.reals;
    const chosen = endpoints.filter(({ weight }) => weight !== 0);
    return chosen.length === 0 || chosen.some((one) => (reals?.get(realServerKey(one))?.weight ?? 0) > 0);
  }

  /** Deletes virtual servers with their real servers, except excluded ones. */
  remove(keys: readonly VirtualServerKey[]): Promise<Outcome<VirtualServerKey>> {
    const planned = keys.flatMap((about): Planned[] => {
      const server = this.known.get(about)?.server;
      if (!server || this.isExcluded(server)) return [];
      return [{ step: { kind: 'delete', server }, about, done: () => void this.known.delete(about) }];
    });
    return this.carryOut(planned);
  }

  /** Deletes real servers that have drained, of these virtual servers or of all. @returns their number */
  async sweep(keys: Iterable<VirtualServerKey> = this.known.keys()): Promise<number> {
    const planned: Planned[] = [];
    for (const key of keys) planned.push(...(await this.drained(key)));
    const { written, refused } = await this.carryOut(planned);
    const level = this.sweepProblem.level(refused.map(({ reason }) => reason).join(), 'warn');
    for (const { what: server, reason } of refused)
      this.logger[level]({ server, reason }, 'cannot delete a drained real server; will retry');
    return written;
  }

  /**
   * Deletes the real servers of an endpoint that drain, of the virtual servers of these frontends, with the connections that they have
   * (`expire_nodest_conn`). Rejects when the kernel keeps some.
   * @param isWanted whether a virtual server should have the endpoint, if with weight 0
   */
  async giveUp(
    endpoint: Pick<RealServer, 'address' | 'port'>,
    frontends: readonly Frontend[],
    isWanted: (server: VirtualServerKey) => boolean = () => false,
  ): Promise<void> {
    const real = realServerKey(endpoint);
    const planned = [...this.known].flatMap(([about, { server, reals }]) => {
      // A node port is served on all addresses of the node.
      const isServed = frontends.some(
        ({ address = server.address, port }) => server.port === port && server.address === address,
      );
      const drains = server.protocol === 'TCP' && reals.get(real)?.weight === 0 && !isWanted(about);
      return isServed && drains ? [this.realDeletion(about, server, endpoint)] : [];
    });
    expectDone(await this.carryOut(planned));
  }

  private carryOut(planned: readonly Planned[]): Promise<Outcome<VirtualServerKey>> {
    return carryOut(planned, async (steps) => {
      const outcomes = await this.servers.apply(steps);
      return outcomes.map((error, index) => (isGone(steps[index]!, error) ? undefined : error));
    });
  }

  private additions(about: VirtualServerKey, { server, endpoints }: ServedAddress): Planned[] {
    const present = this.known.get(about);
    const reals = present?.reals ?? new Map<RealServerKey, KnownReal>();
    const remember = () => void this.known.set(about, { server, reals });
    const steps: Planned[] = [];
    if (!present) steps.push({ step: { kind: 'add', server }, about, done: remember });
    else if (!sameService(present.server, server))
      steps.push({ step: { kind: 'set', server }, about, done: remember });
    for (const { address, port, weight = 1 } of endpoints) {
      const real = { address, port, weight };
      const key = realServerKey(real);
      const before = reals.get(key)?.weight;
      if (before === undefined) steps.push(settingOf(about, { server, reals }, 'add-real', real));
      else if (before === weight) reals.set(key, real);
      else if (weight > 0) steps.push(settingOf(about, { server, reals }, 'set-real', real));
    }
    return steps;
  }

  /**
   * Of the real servers that are to get no more connections.
   * @param begun gets the virtual server when a real server of it begins to drain
   */
  private ends(
    about: VirtualServerKey,
    endpoints: ServedAddress['endpoints'],
    begun: Set<VirtualServerKey>,
  ): Planned[] {
    const known = this.known.get(about);
    if (!known) return [];
    const { server, reals } = known;
    const wanted = new Map(endpoints.map((one) => [realServerKey(one), one.weight]));
    const steps: Planned[] = [];
    for (const [key, { address, port, weight, since }] of reals) {
      const stays = wanted.has(key);
      if (stays && wanted.get(key) !== 0) continue;
      if (!stays && server.protocol !== 'TCP') {
        steps.push(this.realDeletion(about, server, { address, port }));
        continue;
      }
      if (!stays && since === undefined) begun.add(about);
      const idle = { address, port, weight: 0, since: stays ? undefined : (since ?? this.clock.steady()) };
      if (weight === 0) reals.set(key, idle);
      else steps.push(settingOf(about, known, 'set-real', idle));
    }
    return steps;
  }

  /** Deletions of real servers of one virtual server that have drained. Forgets those that are gone already. */
  private async drained(about: VirtualServerKey): Promise<Planned[]> {
    const { server, reals } = this.known.get(about) ?? {};
    const draining = [...(reals ?? [])].filter(([, { since }]) => since !== undefined);
    if (draining.length === 0 || !server) return [];
    const listed = await this.servers.realServers(server);
    const present = new Map(listed.map((real) => [realServerKey(real), real]));
    return draining.flatMap(([key, { since }]) => {
      const real = present.get(key);
      if (!real) {
        reals!.delete(key);
        return [];
      }
      const connections = real.activeConnections + real.inactiveConnections;
      const overdue = this.clock.steady() - since! >= LONGEST_DRAINING;
      if (connections > 0 && !overdue) return [];
      if (connections > 0)
        this.logger.warn(
          { server: about, endpoint: key, connections },
          'endpoint drained for a day and still has connections; closing them',
        );
      return [this.realDeletion(about, server, real)];
    });
  }

  private realDeletion(
    about: VirtualServerKey,
    server: VirtualServer,
    { address, port }: Pick<RealServer, 'address' | 'port'>,
  ): Planned {
    const real = { address, port };
    const done = () => void this.known.get(about)?.reals.delete(realServerKey(real));
    return { step: { kind: 'delete-real', server, real }, about, done };
  }

  private isExcluded({ address }: VirtualServer): boolean {
    return this.excluded.some((cidr) => cidrContains(cidr, address));
  }
}

function settingOf(
  about: VirtualServerKey,
  { server, reals }: KnownServer,
  kind: 'add-real' | 'set-real',
  { since, ...real }: KnownReal,
): Planned {
  const done = () => void reals.set(realServerKey(real), { ...real, since });
  return { step: { kind, server, real }, about, done };
}
