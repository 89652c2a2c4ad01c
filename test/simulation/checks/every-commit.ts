import { Networks } from '../../model/addresses.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';
import type { ExpectedFrontend, ExpectedPort } from './expected-ports.js';
import { repairedUntil } from './budgets.js';
import { actualFate, isAllowed, isAsUnanswered, lacksOnly } from './fate.js';
import { promisesNothing } from './modes.js';
import { probedFrontends, type ProbedFrontend } from './probes.js';
import { RemovedEndpoints } from './removed-endpoints.js';
import { drains } from './service-addresses.js';
import type { Violation } from './violation.js';

/**
 * Simulated milliseconds after which the program has looked whether others wrote, and repaired what they did (docs/internals/nftables.md).
 * Before that nothing may show of damage to what no Service uses at the moment, and the next Service that does meets it.
 */
const NOTICED_WITHIN = { nftables: 3_500, iptables: 0, ipvs: 0, userspace: 0 } as const;

/**
 * After every change of the kernel: each packet meets what was asked for by some state of the cluster that the program may know,
 * and by one alone. So a frontend that is served before and after a change is served in between, a packet never meets half a
 * Service, and one that nobody touched is served as always.
 */
export class EveryCommit {
  commits = 0;
  violation: Violation | undefined;
  private beganAt = 0;
  private turn = 0;
  private damaged: 'no' | 'until repaired' | 'until settled' = 'no';
  private damagedAt = 0;
  private isActing = false;
  /** By what is expected, and the Service. */
  private readonly probes = new Map<string, readonly ProbedFrontend[]>();
  private probedAt = '';
  private readonly removedEndpoints: RemovedEndpoints;

  constructor(private readonly simulation: Simulation) {
    this.removedEndpoints = new RemovedEndpoints(simulation);
  }

  begin(): void {
    const { world } = this.simulation;
    this.beganAt = world.now;
    // The kernel calls it while the program writes; what a check does must not count as work of the program.
    world.machine.onCommit(() => world.scheduler.as(world.fate, () => this.committed()));
  }

  /** Another program takes away what serves: until that is repaired nothing can be promised. */
  damage(act: () => void, isLasting = false): void {
    if (this.damaged !== 'until settled') this.damaged = isLasting ? 'until settled' : 'until repaired';
    this.damagedAt = this.simulation.world.now;
    this.isActing = true;
    act();
    this.isActing = false;
  }

  /** Whether everything is there, as far as anybody knows. */
  get isWhole(): boolean {
    return this.damaged === 'no';
  }

  /** Everything is there again. */
  mended(): void {
    this.damaged = 'no';
  }

  /**
   * All is quiet, as far as packets tell: everything is there again, unless what was damaged shows nowhere, and was not looked at since.
   */
  settled(): void {
    const mayBeDamaged =
      this.damaged === 'until repaired' && this.simulation.world.now < repairedUntil(this.simulation);
    if (!mayBeDamaged || this.isSeen) this.mended();
  }

  /**
   * Where a packet of any Service meets something else than what is asked for now; undefined: nowhere.
   * @param modes of whose rules it may meet some
   */
  presentProblem(modes = this.modes): string | undefined {
    for (const service of this.simulation.history.services) {
      const problem = this.problemOf(service, 'current', 'all clients', modes);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /**
   * Where a packet of this Service's meets something else; undefined: nowhere.
   * @param expected what the program may know, or what is asked for now
   */
  problemOf(
    service: string,
    expected: 'known' | 'current',
    asked: 'all clients' | 'some clients' = 'all clients',
    modes = this.modes,
  ): string | undefined {
    const { walk } = this.simulation.world.machine;
    const isQuiet = asked === 'all clients';
    for (const probed of this.probesOf(service, expected, modes)) {
      const { frontend, port, probes } = probed;
      // Rules may tell all of them apart: each in turn, as most changes take several commits.
      const chosen = isQuiet ? probes : [probes[this.turn++ % probes.length]!];
      for (const probe of chosen) {
        const { client, packet, allowed: allowedFates } = probe;
        // Of former frontends something may stay for which the node has no address any more.
        const mayBeFormer = expected === 'known';
        if (modes.some((mode) => promisesNothing(mode, frontend, client, isQuiet && !mayBeFormer))) continue;
        this.simulation.active.add(isQuiet ? 'packets when all is quiet' : 'packets between two states');
        const fate = actualFate(walk.walk(packet));
        const allowed = allowedFates();
        // Of the rules of two modes, whichever see a packet first answer it.
        if (modes.length > 1 && !isQuiet && isAsUnanswered(fate, allowed)) continue;
        if (!isQuiet && lacksOnly(fate, allowed, this.simulation.mayBeEjected)) continue;
        if (!modes.some((mode) => isAllowed(fate, allowed, mode, isQuiet))) {
          if (this.passesToAnother(frontend)) continue;
          if (this.isOpenUntilIpvsEnds(service, frontend, modes)) continue;
          // A virtual server that waits for its last connections refuses what rules would drop (docs/behavior/life-cycle.md).
          if (isAsUnanswered(fate, allowed) && drains(this.simulation, frontend.address)) continue;
          const { address = 'node', port: number } = frontend;
          return `${port.key} at ${address} ${number} from ${client.kind} ${client.source}: ${fate}; expected ${[...allowed].join(' | ')}`;
        }
        if (!isQuiet) this.removedEndpoints.see(service, probed, probe, fate);
      }
    }
    return undefined;
  }

  /** They are the same until something is written to the cluster. */
  private probesOf(
    service: string,
    expected: 'known' | 'current',
    modes: readonly Mode[],
  ): readonly ProbedFrontend[] {
    const { cluster, history, refusedSince } = this.simulation;
    const ranges = cluster.serviceRanges;
    const mayBeRejected = refusedSince < Infinity;
    const moment = [history.version, mayBeRejected, ...modes, ...ranges].join(' ');
    if (moment !== this.probedAt) this.probes.clear();
    this.probedAt = moment;
    return getOrMake(this.probes, `${expected} ${service}`, () => {
      const statesOf = (name: string): readonly (readonly ExpectedPort[])[] =>
        expected === 'known' ? history.states(name) : [history.current(name)];
      const former = expected === 'current' ? history.states(service) : [];
      const certainty = {
        isQuiet: expected === 'current',
        mayBeRejected,
        serviceRanges: new Networks(ranges),
      };
      return probedFrontends(service, history.services, statesOf, modes, certainty, former);
    });
  }

  /**
   * Rules of mode iptables have the place of those that closed a load balancer's address of mode ipvs to some sources: one that nobody has
   * any more, or that the program does not know of yet, is open until its virtual server goes (docs/internals/simulation.md).
   */
  private isOpenUntilIpvsEnds(
    service: string,
    { kind, address }: ExpectedFrontend,
    modes: readonly Mode[],
  ): boolean {
    if (kind !== 'load-balancer-ip' || !modes.includes('ipvs') || !modes.includes('iptables')) return false;
    return this.simulation.history
      .states(service)
      .some(
        (ports) => !ports.some(({ frontends }) => frontends.some((frontend) => frontend.address === address)),
      );
  }

  /** An address that passes from one Service to another while the kernel rejects one of them may be served by neither. */
  private passesToAnother({ kind }: ExpectedFrontend): boolean {
    const { isContested, refusedSince } = this.simulation;
    return isContested && kind !== 'cluster-ip' && refusedSince < Infinity;
  }

  private get modes(): readonly Mode[] {
    return [...this.simulation.modes];
  }

  private committed(): void {
    if (this.violation) return;
    this.commits++;
    const { history, world, modes } = this.simulation;
    if (this.damaged !== 'no') return this.lookForRepair();
    // In mode userspace packets go through the process, so that a new one begins with nothing.
    const { proxy } = world;
    if (modes.has('userspace') && !(proxy.isRunning && proxy === this.simulation.settledBy)) return;
    for (const service of this.concerned()) {
      const detail = this.problemOf(service, 'known', 'some clients');
      if (detail === undefined) continue;
      const promise = history.isTouched(service) ? 'between two states' : 'an untouched Service';
      this.violation = { promise, detail, at: world.now - this.beganAt };
      return;
    }
  }

  private lookForRepair(): void {
    const { history, mode, world } = this.simulation;
    if (this.isActing || this.damaged === 'until settled') return;
    if (world.now < this.damagedAt + NOTICED_WITHIN[mode]) return;
    if (!this.isSeen) return;
    // What is asked for now may need less than what was.
    const isThere = (service: string) => this.problemOf(service, 'known') === undefined;
    if (this.presentProblem() === undefined && history.services.every(isThere)) this.damaged = 'no';
  }

  /** What all Services share shows only where one of them is served. */
  private get isSeen(): boolean {
    const { history, world } = this.simulation;
    const served = history.ports;
    return world.settings.families.every((family) =>
      served.some((port) => port.family === family && port.cluster.length > 0),
    );
  }

  /** The Services that something was written about, and one of the others in turn. */
  private concerned(): readonly string[] {
    const { history, mode } = this.simulation;
    // In mode userspace a Service that changes gets other sockets.
    const touched =
      mode === 'userspace' ? [] : history.services.filter((service) => history.isTouched(service));
    const others = history.services.filter((service) => !history.isTouched(service));
    return others.length > 0 ? [...touched, others[this.commits % others.length]!] : touched;
  }
}
