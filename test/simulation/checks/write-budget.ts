import { getOrMake } from '../../../src/domain/model/get-or-make.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Change } from '../../support/api-server/object-store.js';
import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { isAboutRules, isOfTheMoment } from './blame.js';
import { areRefusals, mayFindSilence, refuses } from './budgets.js';
import { servicesOf } from './cluster-history.js';

/** What concerns every Service. */
const OF_ALL: ReadonlySet<string> = new Set(['/api/v1/nodes', '/apis/networking.k8s.io/v1/servicecidrs']);
/** Milliseconds: batches that follow each other sooner are of one sync, or of some that changes led to at once; so are changes. */
const TOGETHER = { batches: 100, changes: 20 } as const;
/** Verifications begin with whole seconds: what they write, as to remove what nobody needs, is no retry. */
const [SECOND, OF_VERIFICATION] = [1_000, 5];
/** Seconds. */
const LONGEST_DELAY = 60;
/** At one moment: one after a change, and one that is a retry. */
const SYNCS = 2;

/** How often the program has tried to write since all was quiet, in mode nftables: what is refused costs few writes (docs/recovery.md). */
export class WriteBudget {
  /** When batches came, in simulated milliseconds. */
  private readonly batches = new Map<IpFamily, number[]>();
  /** How many were refused just now. */
  private refused = { at: -Infinity, IPv4: 0, IPv6: 0 };
  /** When users wrote something: about a Service, or about what concerns all. */
  private readonly ofServices = new Map<string, number[]>();
  private readonly ofAll: number[] = [];
  private readonly steps: Step[] = [];

  constructor(private readonly simulation: Simulation) {}

  begin(): void {
    const { world, cluster } = this.simulation;
    world.machine.nfTables.onBatch((family, isTaken) => this.tried(family, isTaken));
    cluster.api.store.subscribe((change) => this.changed(change));
  }

  perform(step: Step): void {
    this.steps.push(step);
  }

  /** All is quiet now. */
  settle(): void {
    this.steps.length = 0;
    this.batches.clear();
    this.ofServices.clear();
    this.ofAll.length = 0;
  }

  /** Whether it tried too often for what has happened since then. */
  check(): void {
    if (!this.isLimited) return;
    for (const [family, times] of this.batches) {
      const tried = times.filter((time) => time % SECOND >= OF_VERIFICATION);
      const moments = momentsOf(tried, TOGETHER.batches);
      const most = this.moments(family);
      if (moments > most) this.breaks(`${family}: written at ${moments} moments; expected ${most} at most`);
    }
  }

  private get isLimited(): boolean {
    const { mode, modes } = this.simulation;
    return (
      mode === 'nftables' && modes.size === 1 && areRefusals(this.steps) && !mayFindSilence(this.simulation)
    );
  }

  /** In a round no time goes by: one without an end would be the end of the world. */
  private tried(family: IpFamily, isTaken: boolean): void {
    const { now } = this.simulation.world;
    getOrMake(this.batches, family, () => []).push(now);
    if (isTaken) return;
    if (this.refused.at !== now) this.refused = { at: now, IPv4: 0, IPv6: 0 };
    const refused = ++this.refused[family];
    if (refused <= SYNCS * (roundOf(1) + 1) || !this.isLimited) return;
    const most = SYNCS * (roundOf(this.suspects(family)) + 1);
    if (refused > most) this.breaks(`${family}: refused ${refused} times; expected ${most} at most`);
  }

  private breaks(detail: string): void {
    this.simulation.breaks('a refusal costs few writes', detail);
  }

  /** At how many moments a family may be written at most. */
  private moments(family: IpFamily): number {
    const { ofServices, ofAll } = this;
    const changes = [...ofAll, ...[...ofServices.values()].flat()];
    const n = this.suspects(family);
    // Where all are to blame, each takes two writes. Those for which none is left wait for another round.
    const rounds = Math.ceil((2 * n + 2) / roundOf(n));
    return rounds * (momentsOf(changes, TOGETHER.changes) + this.retriesAfter(changes));
  }

  /** How often a family may be synced, or verified after a failure, although nothing has changed. */
  private retriesAfter(changes: readonly number[]): number {
    const { ofServices, ofAll } = this;
    const refusals = this.steps.filter(refuses);
    // Of rules that concern all nobody is to blame.
    const mayFailAsAWhole = ofAll.length > 0 || !refusals.every(isAboutRules);
    // A sync, and a verification.
    const ofAWhole = mayFailAsAWhole ? 2 * this.retries(changes) : 0;
    if (refusals.every(isOfTheMoment)) return ofAWhole;
    const ofEach = [...ofServices.values()].map((times) => this.retries([...times, ...ofAll]));
    return ofEach.reduce((sum, retries) => sum + retries, ofAWhole);
  }

  /** After one second, two, four, up to a minute; from the beginning again after each change. */
  private retries(changes: readonly number[]): number {
    const times = changes.toSorted((one, other) => one - other);
    return times.reduce((sum, time, index) => {
      const seconds = ((times[index + 1] ?? this.simulation.world.now) - time) / 1_000;
      return sum + Math.floor(Math.log2(seconds + 1) + seconds / LONGEST_DELAY);
    }, 0);
  }

  /** Service ports that have changed. */
  private suspects(family: IpFamily): number {
    const { history } = this.simulation;
    const isSuspect = (service: string): boolean => this.ofAll.length > 0 || this.ofServices.has(service);
    return history.services.filter(isSuspect).reduce((sum, service) => {
      const ports = history
        .states(service)
        .map((state) => state.filter((port) => port.family === family).length);
      return sum + Math.max(...ports);
    }, 0);
  }

  private changed(change: Change): void {
    const { now } = this.simulation.world;
    if (OF_ALL.has(change.collection)) this.ofAll.push(now);
    for (const service of servicesOf(change)) getOrMake(this.ofServices, service, () => []).push(now);
  }
}

/** After how many writes a round for so many suspects ends; the first one is before it. */
function roundOf(suspects: number): number {
  return 8 + 4 * Math.ceil(Math.log2(suspects + 1));
}

/** How many groups there are of those that follow each other within so many milliseconds. */
function momentsOf(times: readonly number[], together: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted.filter((time, index) => index === 0 || time - sorted[index - 1]! > together).length;
}
