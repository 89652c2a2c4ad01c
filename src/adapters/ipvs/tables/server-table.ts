import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { serverLines } from '../../../domain/ipvs/render-servers.js';
import type { ServedAddress } from '../../../domain/ipvs/service-port-rules.js';
import {
  realServerKey,
  sameService,
  virtualServerKey,
  type RealServer,
  type RealServerKey,
  type VirtualServer,
  type VirtualServerKey,
} from '../../../domain/ipvs/virtual-server.js';
import { cidrContains, type Cidr } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { ENOENT, ESRCH } from '../../netlink/errno.js';
import { NetlinkRequestError } from '../../netlink/errors.js';
import { Draining } from './draining.js';
import { carryOut, type Outcome, type PlannedStep } from './planned-steps.js';
import type { StepOutcome, VirtualServers, VirtualServerStep } from '../kernel/virtual-servers.js';

/**
 * The longest time that a real server drains, in milliseconds: a day, far beyond any pod's grace period. Without a limit, as in
 * kube-proxy, a real server would stay for good when the kernel's count of connections never reaches 0.
 */
export const LONGEST_DRAINING = 24 * 60 * 60 * 1000;

/** How often to check whether draining real servers still have connections, in milliseconds (docs/spec/ipvs.md §8). */
export const SWEEP_PERIOD = 60_000;

/** Another program deleted it before us. */
function isGone({ kind }: VirtualServerStep, error: StepOutcome): boolean {
  const isDeletion = kind === 'delete' || kind === 'delete-real';
  return isDeletion && error instanceof NetlinkRequestError && [ENOENT, ESRCH].includes(error.errno);
}

interface KnownServer {
  readonly server: VirtualServer;
  readonly reals: Map<RealServerKey, RealServer>;
}

type Planned = PlannedStep<VirtualServerStep, VirtualServerKey>;

/**
 * The kernel's virtual servers of one family, as they were read or written last.
 *
 * A real server of UDP or SCTP that is no longer wanted is deleted at once. One of TCP drains: it gets weight 0, so that it
 * gets no new connections, and `sweep` deletes it when it has none left or after LONGEST_DRAINING. If it is wanted again in the
 * meantime, it gets its weight back and keeps its connections. A later process sees by the weight that it drains.
 */
export class ServerTable {
  private readonly known = new Map<VirtualServerKey, KnownServer>();
  private readonly draining = new Draining();

  /** @param excluded virtual servers at these addresses are never deleted */
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
    this.known.clear();
    for (const { realServers, ...server } of listed) {
      const reals = new Map(realServers.map((real) => [realServerKey(real), real]));
      this.known.set(virtualServerKey(server), { server, reals });
    }
    for (const key of this.draining.servers()) if (!this.known.has(key)) this.draining.forget(key);
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
   * @param wanted the endpoints that it should have: others of TCP that get no new connections drain, and are left out
   */
  lines(key: VirtualServerKey, wanted: ServedAddress['endpoints']): readonly string[] {
    const known = this.known.get(key);
    if (!known) return [];
    const { server, reals } = known;
    const needed = new Set(wanted.map(({ address, port }) => realServerKey({ address, port })));
    const drains = ([real, { weight }]: readonly [RealServerKey, RealServer]): boolean =>
      weight === 0 && server.protocol === 'TCP' && !needed.has(real);
    const shown = [...reals].filter((real) => !drains(real)).map(([, real]) => real);
    return serverLines([{ server, endpoints: shown }]);
  }

  /** The virtual servers that may be deleted, with the real servers that get new connections. */
  removable(): readonly ServedAddress[] {
    return [...this.known.values()]
      .filter(({ server }) => !this.isExcluded(server))
      .map(({ server, reals }) => ({
        server,
        endpoints: [...reals.values()].filter(({ weight }) => weight > 0),
      }));
  }

  /** Whether some real server drains. */
  get isDraining(): boolean {
    return !this.draining.isEmpty;
  }

  /** Creates or changes virtual servers so that they are as wanted. A refused one does not stop the others. */
  async make(wanted: ReadonlyMap<VirtualServerKey, ServedAddress>): Promise<Outcome<VirtualServerKey>> {
    const before = new Map([...wanted.keys()].map((key) => [key, new Set(this.draining.of(key).keys())]));
    const outcome = await this.carryOut([...wanted].flatMap(([key, served]) => this.planned(key, served)));
    const begun = [...before].filter(([key, drained]) =>
      [...this.draining.of(key).keys()].some((real) => !drained.has(real)),
    );
    const swept = await this.sweep(begun.map(([key]) => key));
    return { ...outcome, written: outcome.written + swept };
  }

  /** Deletes virtual servers with their real servers, except excluded ones. */
  remove(keys: readonly VirtualServerKey[]): Promise<Outcome<VirtualServerKey>> {
    return this.carryOut(keys.flatMap((key) => this.deletion(key)));
  }

  /** Deletes real servers that have drained, of these virtual servers or of all. @returns their number */
  async sweep(keys: readonly VirtualServerKey[] = this.draining.servers()): Promise<number> {
    const planned: Planned[] = [];
    for (const key of keys) planned.push(...(await this.drained(key)));
    const { written, refused } = await this.carryOut(planned);
    for (const { what: server, reason } of refused)
      this.logger.warn({ server, reason }, 'cannot delete a drained real server; will retry');
    return written;
  }

  private carryOut(planned: readonly Planned[]): Promise<Outcome<VirtualServerKey>> {
    return carryOut(planned, async (steps) => {
      const outcomes = await this.servers.apply(steps);
      return outcomes.map((error, index) => (isGone(steps[index]!, error) ? undefined : error));
    });
  }

  private planned(about: VirtualServerKey, { server, endpoints }: ServedAddress): Planned[] {
    const present = this.known.get(about);
    const reals = present?.reals ?? new Map<RealServerKey, RealServer>();
    const remember = () => void this.known.set(about, { server, reals });
    const steps: Planned[] = [];
    if (!present) steps.push({ step: { kind: 'add', server }, about, done: remember });
    else if (!sameService(present.server, server))
      steps.push({ step: { kind: 'set', server }, about, done: remember });
    const wanted = new Set<RealServerKey>();
    for (const { address, port } of endpoints) {
      const real = { address, port, weight: 1 };
      const key = realServerKey(real);
      if (wanted.has(key)) continue;
      wanted.add(key);
      const weight = reals.get(key)?.weight;
      if (weight === 1) {
        this.draining.end(about, key);
        continue;
      }
      const kind = weight === undefined ? 'add-real' : 'set-real';
      const done = () => {
        reals.set(key, real);
        this.draining.end(about, key);
      };
      steps.push({ step: { kind, server, real }, about, done });
    }
    for (const [key, real] of reals)
      if (!wanted.has(key)) steps.push(...this.retirement(about, server, key, real));
    return steps;
  }

  private retirement(
    about: VirtualServerKey,
    server: VirtualServer,
    key: RealServerKey,
    real: RealServer,
  ): Planned[] {
    if (server.protocol !== 'TCP') return [this.realDeletion(about, server, key, real)];
    if (real.weight === 0) {
      this.draining.begin(about, key, this.clock.now());
      return [];
    }
    const idle = { address: real.address, port: real.port, weight: 0 };
    const done = () => {
      this.known.get(about)?.reals.set(key, idle);
      this.draining.begin(about, key, this.clock.now());
    };
    return [{ step: { kind: 'set-real', server, real: idle }, about, done }];
  }

  /** Deletions of real servers of one virtual server that have drained. Forgets those that are gone already. */
  private async drained(about: VirtualServerKey): Promise<Planned[]> {
    const draining = this.draining.of(about);
    const server = this.known.get(about)?.server;
    if (draining.size === 0 || !server) return [];
    const listed = await this.servers.realServers(server);
    const present = new Map(listed.map((real) => [realServerKey(real), real]));
    return [...draining].flatMap(([key, since]) => {
      const real = present.get(key);
      if (!real) {
        this.forget(about, key);
        return [];
      }
      const connections = real.activeConnections + real.inactiveConnections;
      const overdue = this.clock.now() - since >= LONGEST_DRAINING;
      if (connections > 0 && !overdue) return [];
      if (connections > 0)
        this.logger.warn(
          { server: about, endpoint: key, connections },
          'endpoint drained for a day and still has connections; closing them',
        );
      return [this.realDeletion(about, server, key, real)];
    });
  }

  private realDeletion(
    about: VirtualServerKey,
    server: VirtualServer,
    key: RealServerKey,
    { address, port }: RealServer,
  ): Planned {
    const step = { kind: 'delete-real', server, real: { address, port } } as const;
    return { step, about, done: () => this.forget(about, key) };
  }

  private deletion(about: VirtualServerKey): Planned[] {
    const server = this.known.get(about)?.server;
    if (!server || this.isExcluded(server)) return [];
    const done = () => {
      this.known.delete(about);
      this.draining.forget(about);
    };
    return [{ step: { kind: 'delete', server }, about, done }];
  }

  private isExcluded({ address }: VirtualServer): boolean {
    return this.excluded.some((cidr) => cidrContains(cidr, address));
  }

  private forget(server: VirtualServerKey, real: RealServerKey): void {
    this.known.get(server)?.reals.delete(real);
    this.draining.end(server, real);
  }
}
