import type { Simulation } from '../simulation.js';
import { missingAffinity } from './affinity.js';
import { listsSoFar, mayFindSilence, repairedUntil } from './budgets.js';
import { staleFlow } from './flows.js';
import { wrongOnLoopback } from './loopback-node-ports.js';
import { wrongAtOtherAddresses } from './node-addresses.js';
import { falseHealthAnswer, wrongHealthPort } from './health-ports.js';
import { unreportedConflict } from './others-served.js';
import { leak } from './leaks.js';
import { lasting } from './lasting.js';
import { missingServer, surplusAddress } from './service-addresses.js';
import { missingWeightless, wrongShare } from './shares.js';
import { wrongAtUnusedAddress } from './unused-addresses.js';
import type { Violation } from './violation.js';
import { untruthOf } from './what-it-says.js';

/** Simulated time, in milliseconds: by so much later than packets show it, the program knows that all is well, and flows have ended. */
const UNTIL_IT_KNOWS = 5_000;
const LOOKED_AGAIN_AFTER = 5_000;
/** Until what is removed later is gone: whether endpoints have drained is looked at once a minute. */
const SETTLING = 70_000;
const IDLE = 60_000;
const LONG_IDLE = 3_600_000;
/** Of the idle times so few are an hour, … */
const ONE_LONG_IDLE_IN = 100;
/** … and two minutes in which next to nothing happens take a sixth of what a world takes, so that few quiet times become idle ones. */
const ONE_IDLE_IN = 32;
/** Whether something leaks is looked for at the end of so many worlds: a dozen changes. */
const ONE_LEAK_IN = 6;
/** Besides its state: each costs as much as all else. */
const ASKED = ['diff', 'metrics', undefined] as const;
/** What the program says costs a quarter of a start, and at the end of each world it is asked. */
const ONE_EARLIER_IN = 4;

/** When all is quiet again: the kernel is what the cluster asks for, and what the program says of it is true. */
export class WhenQuiet {
  violation: Violation | undefined;
  private readonly beganAt: number;
  /** What was found after which commit and write, and how long that holds. */
  private found:
    | { readonly moment: string; readonly problem: string | undefined; readonly until: number }
    | undefined;

  constructor(private readonly simulation: Simulation) {
    this.beganAt = simulation.world.now;
  }

  /** Whether the kernel has everything. */
  isQuiet(): boolean {
    return this.difference() === undefined;
  }

  /**
   * To be called once it is quiet, or when it should be.
   * @param isLast nothing happens in this world any more; else what it says is asked now and then only
   * @param due by when packets had to show that all is quiet
   */
  async check(isLast: boolean, due: number): Promise<void> {
    const detail = this.difference();
    if (detail !== undefined) return this.broken('the kernel equals the cluster', detail);
    const { modes, world } = this.simulation;
    const { random } = world;
    const known = due + UNTIL_IT_KNOWS;
    const flow = await lasting(world, () => staleFlow(this.simulation), known);
    if (flow !== undefined) return this.broken('no flow to a removed endpoint stays', flow);
    if (isLast) {
      const real = await this.simulation.draining.stays();
      if (real !== undefined) return this.broken('real servers drain', real);
    }
    // What was of another mode is taken to be gone from then on, which only the program tells.
    if (!isLast && modes.size === 1 && !random.isOneIn(ONE_EARLIER_IN)) return;
    const asked = random.pick(ASKED);
    const untruth = await lasting(
      world,
      () => this.untruth(asked).catch(({ message }: Error) => message),
      Math.max(known, world.now + UNTIL_IT_KNOWS),
    );
    if (untruth !== undefined) return this.broken('what it says is true', untruth);
    if (isLast && random.isOneIn(ONE_LEAK_IN)) {
      const leaked = await leak(this.simulation);
      if (leaked !== undefined) return this.broken('nothing leaks', leaked);
    }
    if (!random.isOneIn(ONE_IDLE_IN)) return;
    const work = await this.workWhileIdle();
    if (work !== undefined) return this.broken('nothing is done while nothing happens', work);
  }

  private async untruth(asked: (typeof ASKED)[number]): Promise<string | undefined> {
    const { simulation } = this;
    return (
      unreportedConflict(simulation) ?? (await falseHealthAnswer(simulation)) ?? untruthOf(simulation, asked)
    );
  }

  private async workWhileIdle(): Promise<string | undefined> {
    const { world } = this.simulation;
    await world.scheduler.runUntil(Math.max(world.now + SETTLING, repairedUntil(this.simulation)));
    const before = world.machine.commits;
    const lists = listsSoFar(this.simulation);
    // What it has not heard of may change nothing of what packets meet, and is written once it hears of it.
    const mayHear = mayFindSilence(this.simulation);
    const idle = world.random.isOneIn(ONE_LONG_IDLE_IN) ? LONG_IDLE : IDLE;
    await world.scheduler.runUntil(world.now + idle);
    if (mayHear) return undefined;
    const commits = world.machine.commits - before;
    if (commits > 0) return `${commits} commits in ${idle / IDLE} minutes`;
    const listed = listsSoFar(this.simulation) - lists;
    return listed > 0 ? `${listed} lists from the API server in ${idle / IDLE} minutes` : undefined;
  }

  private difference(): string | undefined {
    const { simulation } = this;
    const { proxy } = simulation.world;
    if (!proxy.isRunning)
      return `the program has ended with ${proxy.exitCode}: ${String((proxy.failure as Error | undefined)?.stack)}`;
    const { commits, links } = simulation.world.machine;
    // In mode userspace the sockets of a process go with it, without a commit.
    const moment = `${simulation.mode} ${proxy.life.pid} ${commits} ${links.version} ${simulation.history.writes}`;
    const { found } = this;
    if (found?.moment === moment && simulation.world.now < found.until) return found.problem;
    const problem = this.firstProblem();
    // Sockets come without a commit.
    const until = problem === undefined ? Infinity : simulation.world.now + LOOKED_AGAIN_AFTER;
    this.found = { moment, problem, until };
    return problem;
  }

  private firstProblem(): string | undefined {
    // Nothing of the mode before is in the way any more. How long a client keeps its endpoint packets do not tell.
    return (
      this.simulation.everyCommit.presentProblem([this.simulation.mode]) ??
      missingAffinity(this.simulation) ??
      missingServer(this.simulation) ??
      wrongShare(this.simulation) ??
      missingWeightless(this.simulation) ??
      surplusAddress(this.simulation) ??
      wrongOnLoopback(this.simulation) ??
      wrongAtOtherAddresses(this.simulation) ??
      wrongAtUnusedAddress(this.simulation) ??
      wrongHealthPort(this.simulation)
    );
  }

  private broken(promise: string, detail: string): void {
    this.violation ??= { promise, detail, at: this.simulation.world.now - this.beganAt };
  }
}
