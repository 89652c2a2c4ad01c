import { getOrMake } from '../../../src/domain/model/maps.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Change } from '../../support/api-server/object-store.js';
import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { isAboutRules, isOfTheMoment, mayConcernOthers, refusedServiceOf } from './blame.js';
import type { Planned } from '../world/scheduler.js';
import { areRefusals, mayFindSilence, minSyncPeriod, refuses, STARTED } from './budgets.js';
import { servicesOf } from './cluster-history.js';
import { longestRetryPause, RETRY_DELAYS } from './retry-delays.js';
import { mayBeVerified } from './verifications.js';
import { WAYS_TO_WRITE, type WayToWrite } from './ways-to-write.js';

/** What concerns every Service. */
const OF_ALL: ReadonlySet<string> = new Set(['/api/v1/nodes', '/apis/networking.k8s.io/v1/servicecidrs']);
/** Milliseconds: writes that follow each other sooner are of one sync, or of some that changes led to at once; so are changes. */
const TOGETHER = { writes: 100, changes: 20 } as const;
/** At one moment: one after a change, and one that is a retry, or a verification. */
const SYNCS = 2;
/** So many refusals at one moment are a round that does not end, whatever has happened. */
const WITHOUT_AN_END = 1_000;
/** Seconds, and the argument with which it is another one. What fails as a whole waits no longer. */
const SYNC_PERIOD = { usual: 30, argument: '--iptables-sync-period=' } as const;

/** What is logged when some changes are written. */
const WRITTEN = 'changes programmed';

/** How often the program has tried to write since all was quiet: what is refused costs few writes (docs/behavior/recovery.md). */
export class WriteBudget {
  /** When it did, in simulated milliseconds. */
  private readonly writes = new Map<IpFamily, number[]>();
  /** How many were refused just now. */
  private refused = { at: -Infinity, IPv4: 0, IPv6: 0 };
  /** When one was refused first since all was quiet. */
  private refusedSince = Infinity;
  /** When users wrote something: about a Service, or about what concerns all. */
  private readonly ofServices = new Map<string, number[]>();
  private readonly ofAll: number[] = [];
  /** A watch still waited, after trouble of a former round, when something was written: of that it tells later than others do. */
  private areHeardApart = false;
  private readonly steps: Step[] = [];
  /** When what was rejected last must have been tried again. */
  private awaited: Planned | undefined;

  constructor(private readonly simulation: Simulation) {}

  begin(): void {
    const { simulation } = this;
    for (const [mode, way] of Object.entries(WAYS_TO_WRITE))
      way.follow(simulation, (family, isTaken) => {
        if (simulation.mode === mode) this.tried(family, isTaken, way);
      });
    simulation.cluster.api.store.subscribe((change) => this.changed(change));
  }

  perform(step: Step): void {
    this.steps.push(step);
  }

  /** All is quiet now, as far as packets tell. */
  settle(): void {
    if (this.isTriedAgain || this.mayWait) return;
    this.refusedSince = Infinity;
    this.steps.length = 0;
    this.writes.clear();
    this.ofServices.clear();
    this.ofAll.length = 0;
    this.areHeardApart = false;
  }

  /** Whether it tried too often for what has happened since then. */
  check(): void {
    const { way } = this;
    if (!way || !this.isLimited) return;
    for (const [family, times] of this.writes) {
      // What a verification writes, as to remove what nobody needs, is no retry.
      const isRetry = ([first]: readonly number[]): boolean =>
        !mayBeVerified(this.simulation, first!, way.readsFor);
      const moments = together(times, TOGETHER.writes).filter(isRetry).length;
      const most = this.moments(family);
      if (moments > most) this.breaks(`${family}: written at ${moments} moments; expected ${most} at most`);
    }
  }

  /** Whether a retry may still come, of what packets tell nothing of: another time of affinity where there are no endpoints. */
  private get isTriedAgain(): boolean {
    const { refused, refusedSince, way } = this;
    const pause = longestRetryPause(refused.at - refusedSince);
    // Before a sync it waits until that is so long after the one before.
    const late = 2 * (way?.pause ?? 0) + TOGETHER.writes;
    return this.simulation.world.now <= refused.at + pause + late;
  }

  /** Whether a change may still wait to be written, of what packets tell nothing of, since writes must be so far apart. */
  private get mayWait(): boolean {
    return this.mayWaitSince(Math.max(...this.changes));
  }

  /** Whether what came then may still wait for the next write. */
  private mayWaitSince(time: number): boolean {
    return this.simulation.world.now <= time + this.spacing + TOGETHER.writes;
  }

  /**
   * Whether the program may still wait to write what it was told, as writes must be so far apart, and packets tell nothing of it. What
   * comes first of a Service and its endpoints leads to a write, and what comes in the middle of that to the next one.
   */
  get mayWaitWithNews(): boolean {
    const { cluster, world } = this.simulation;
    const told = cluster.toldAt.filter((time) => this.mayWaitSince(time));
    if (told.length === 0) return false;
    const since = world.log.slice(world.log.findLastIndex(({ at }) => at < Math.min(...told)) + 1);
    const syncs = (family: IpFamily, message: string): number =>
      since.filter(
        (line) => line.message === message && (line.facts as { family?: IpFamily }).family === family,
      ).length;
    return !world.settings.families.every(
      (family) => syncs(family, STARTED) > 0 || syncs(family, WRITTEN) >= told.length,
    );
  }

  /** How far apart writes must be, in milliseconds. */
  private get spacing(): number {
    return Math.max(this.way?.pause ?? 0, minSyncPeriod(this.simulation));
  }

  /** When users wrote something. */
  private get changes(): readonly number[] {
    return [...this.ofAll, ...[...this.ofServices.values()].flat()];
  }

  private get way(): WayToWrite | undefined {
    return WAYS_TO_WRITE[this.simulation.mode];
  }

  private get isLimited(): boolean {
    return this.simulation.modes.size === 1 && areRefusals(this.steps) && !mayFindSilence(this.simulation);
  }

  /** In a round of mode nftables no time goes by: one without an end would be the end of the world. */
  private tried(family: IpFamily, isTaken: boolean, way: WayToWrite): void {
    const { now } = this.simulation.world;
    getOrMake(this.writes, family, () => []).push(now);
    if (isTaken) return;
    this.refusedSince = Math.min(this.refusedSince, now);
    this.awaitRetry(way);
    const before = this.refused;
    this.refused = now - before.at > way.together ? { at: now, IPv4: 0, IPv6: 0 } : { ...before, at: now };
    const refused = ++this.refused[family];
    const { refusalsOfWrite = Infinity } = way;
    const mostOf = (suspects: number): number => SYNCS * refusalsOfWrite * (roundOf(suspects) + 1);
    if (refused <= (this.isLimited ? mostOf(1) : WITHOUT_AN_END)) return;
    const most = mostOf(this.suspects(family));
    if (refused <= most) return;
    this.breaks(`${family}: refused ${refused} times; expected ${most} at most`);
    // Or the world would wait for the round.
    this.simulation.world.proxy.kill();
  }

  /**
   * Whatever is still missing when the pause is over after which it is to be written again (docs/behavior/recovery.md) was tried meanwhile.
   */
  private awaitRetry(way: WayToWrite): void {
    const { simulation } = this;
    const { everyCommit, mode, world } = simulation;
    const { proxy, scheduler, now } = world;
    const pause = longestRetryPause(now - this.refusedSince);
    const begun = proxy.children.length;
    const isLate = (): boolean =>
      world.proxy === proxy &&
      proxy.isRunning &&
      this.isLimited &&
      // Those that cannot read do not come to write, and show by programs that they start.
      (proxy.children.length === begun || !this.steps.some(keepsFromReading)) &&
      !proxy.children.some(({ hasEnded }) => !hasEnded) &&
      !this.changes.some((time) => this.mayWaitSince(time - way.together)) &&
      everyCommit.presentProblem([mode]) !== undefined;
    this.awaited?.cancel();
    this.awaited = scheduler.after(
      pause + this.spacing + TOGETHER.writes + way.together,
      () => {
        simulation.active.add('retries come in time');
        if (isLate()) simulation.breaks('retries come in time', `nothing is tried again after ${pause} ms`);
      },
      world.fate,
    );
  }

  private breaks(detail: string): void {
    this.simulation.breaks('a refusal costs few writes', detail);
  }

  /** At how many moments a family may be written at most. */
  private moments(family: IpFamily): number {
    const { changes } = this;
    const n = this.suspects(family);
    // Where all are to blame, each takes two writes. Those for which none is left wait for another round.
    const rounds = Math.ceil((2 * n + 2) / roundOf(n));
    const isSpaced = this.spacing > 0;
    // Of objects that change together the first is written at once, and the others wait.
    const writesOf = ({ length }: readonly number[]): number => (isSpaced ? Math.min(length, 2) : 1);
    const groups = this.areHeardApart ? changes.map((time) => [time]) : together(changes, TOGETHER.changes);
    const ofChanges = groups.reduce((sum, group) => sum + writesOf(group), 0);
    return rounds * (ofChanges + this.retriesAfter(changes));
  }

  /** How often a family may be synced, or verified after a failure, although nothing has changed. */
  private retriesAfter(changes: readonly number[]): number {
    const { ofAll } = this;
    const refusals = this.steps.filter(refuses);
    // Of rules that concern all nobody is to blame.
    const mayFailAsAWhole = ofAll.length > 0 || !refusals.every(isAboutRules);
    const period = parseFloat(this.simulation.argument(SYNC_PERIOD.argument) ?? '') || SYNC_PERIOD.usual;
    // A sync, and a verification.
    const ofAWhole = mayFailAsAWhole ? 2 * this.retries(changes, period) : 0;
    if (refusals.every(isOfTheMoment)) return ofAWhole;
    const ofEach = this.blamable(refusals, changes).map((times) => this.retries(times));
    return ofEach.reduce((sum, retries) => sum + retries, ofAWhole);
  }

  /** Of each Service that may be blamed: after which changes. */
  private blamable(refusals: readonly Step[], changes: readonly number[]): readonly (readonly number[])[] {
    const { ofServices, ofAll } = this;
    if (!refusals.some(mayConcernOthers))
      return [...ofServices.values()].map((times) => [...times, ...ofAll]);
    const refused = refusals.map(refusedServiceOf);
    const all = refused.includes(undefined) ? this.simulation.history.services : new Set(refused);
    return [...all].map(() => changes);
  }

  /** After one second, two, four, up to a minute; from the beginning again after each change. */
  private retries(changes: readonly number[], longest: number = RETRY_DELAYS.longest): number {
    const times = changes.toSorted((one, other) => one - other);
    return times.reduce((sum, time, index) => {
      const seconds = ((times[index + 1] ?? this.simulation.world.now) - time) / 1_000;
      return sum + Math.floor(Math.log2(seconds + 1) + seconds / longest);
    }, 0);
  }

  /** Service ports that have changed, or of which rules are in the same chains. */
  private suspects(family: IpFamily): number {
    const { history } = this.simulation;
    const concernsOthers = this.steps.some(mayConcernOthers);
    const isSuspect = (service: string): boolean =>
      concernsOthers || this.ofAll.length > 0 || this.ofServices.has(service);
    return history.services.filter(isSuspect).reduce((sum, service) => {
      const ports = history
        .states(service)
        .map((state) => state.filter((port) => port.family === family).length);
      return sum + Math.max(...ports);
    }, 0);
  }

  private changed(change: Change): void {
    const { cluster, settledBy, world } = this.simulation;
    const { now } = world;
    this.areHeardApart ||= world.proxy === settledBy && !cluster.isFollowedCompletely;
    if (OF_ALL.has(change.collection)) this.ofAll.push(now);
    // An address may come to another Service, or from it.
    const { history, isContested } = this.simulation;
    const services = isContested ? history.services : servicesOf(change);
    for (const service of services) getOrMake(this.ofServices, service, () => []).push(now);
  }
}

function keepsFromReading({ name, args: [kind = '', program = ''] }: Step): boolean {
  return name === 'program-fault' && kind === 'fails' && program !== 'restore';
}

/** After how many writes a round for so many suspects ends; the first one is before it. */
function roundOf(suspects: number): number {
  return 8 + 4 * Math.ceil(Math.log2(suspects + 1));
}

/** In groups of those that follow each other within so many milliseconds. */
function together(times: readonly number[], milliseconds: number): readonly (readonly number[])[] {
  const groups: number[][] = [];
  for (const time of times.toSorted((one, other) => one - other)) {
    const last = groups.at(-1);
    if (last && time - last.at(-1)! <= milliseconds) last.push(time);
    else groups.push([time]);
  }
  return groups;
}
