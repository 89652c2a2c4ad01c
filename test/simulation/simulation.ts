import { blamesSoFar, isNobodysFault } from './checks/blame.js';
import { abandonedMemory } from './checks/client-memory.js';
import {
  isOfOthers,
  leavesSilence,
  listsSoFar,
  mayFindSilence,
  needsNoLists,
  refuses,
  timeToQuiet,
} from './checks/budgets.js';
import type { CheckName } from './checks/activity.js';
import { ClusterHistory } from './checks/cluster-history.js';
import type { Violation } from './checks/violation.js';
import { Draining } from './checks/draining.js';
import { EveryCommit } from './checks/every-commit.js';
import { complaint, linesSoFar } from './checks/complaints.js';
import { falsePraise } from './checks/false-praise.js';
import { ForeignRules } from './checks/foreign-rules.js';
import { unreportedRejection, unservedBeside } from './checks/others-served.js';
import { SurvivingFlows } from './checks/surviving-flows.js';
import { WhenQuiet } from './checks/when-quiet.js';
import { WriteBudget } from './checks/write-budget.js';
import { KubeProxy } from './kube-proxy/kube-proxy.js';
import { SimulatedCluster } from './cluster/simulated-cluster.js';
import { argumentsOf, localNetworks } from './schedule/arguments.js';
import type { Connection } from './kernel/conntrack/ctnetlink.js';
import type { Schedule, Step } from './schedule/schedule.js';
import { endTrouble } from './steps/api-server.js';
import { startProgramsOf } from './replaced/execa.js';
import { OTHER_ADDRESSES } from './steps/node.js';
import { stepKind } from './steps/steps.js';
import { enter } from './world/current.js';
import { ProxyProcess } from './world/proxy-process.js';
import type { Mode } from './world/settings.js';
import { World } from './world/world.js';

/** Simulated milliseconds. */
const LOOK_AFTER = 500;
const LOOK_AT_LEAST = 5_000;
const RESTARTED_AFTER = 5_000;
const STOPS_WITHIN = 5_000;
/** At the end of so many worlds the program is asked to stop; in the others it is gone at once. */
const ONE_LAST_END_IN = 4;

/** By how much longer each pause is than the one before. */
const LOOKED_LATER = 1.3;

/** What a simulation came to. */
export interface Outcome {
  readonly violation?: Violation;
  readonly commits: number;
  readonly turns: number;
  /** The checks that had something to look at. */
  readonly active: ReadonlySet<CheckName>;
}

/** One world from its beginning to its end, with all that is checked. */
export class Simulation {
  readonly world: World;
  readonly cluster: SimulatedCluster;
  readonly history: ClusterHistory;
  readonly kubeProxy: KubeProxy;
  /** The mode with which the program is started next. */
  mode: Mode;
  /** Modes of which there may be rules: those in which it ran since all was quiet. */
  readonly modes: Set<Mode>;
  /** Further arguments with which it is started next. */
  arguments: readonly string[];
  /** The process that had everything when all was quiet last. */
  settledBy: ProxyProcess | undefined;
  readonly everyCommit: EveryCommit;
  /** The checks that have had something to look at. */
  readonly active = new Set<CheckName>();
  readonly draining = new Draining(this);
  private readonly whenQuiet: WhenQuiet;
  private readonly writeBudget: WriteBudget;
  /** What has happened since all was quiet. */
  private performed: Step[] = [];
  /** When each step was performed, in simulated milliseconds. */
  private readonly times = new WeakMap<Step, number>();
  /** Nothing happens after what is performed now. */
  private isLast = false;
  private performedAt = -Infinity;
  /** What happened before that: some of it may show only now. */
  private formerly: readonly Step[] = [];
  /** When a connection to the API server may have begun to be silent last, in simulated milliseconds. */
  silencedAt = -Infinity;
  /** Until when others may have written rules last, in simulated milliseconds. */
  othersWroteAt = -Infinity;
  /** Endpoints that fell silent, so that lists may lack them. */
  readonly mayBeEjected = new Set<string>();
  /** Addresses that the node had when a process ended, and has lost when the next one begins. */
  readonly lostUnseen = new Set<string>();
  /** Those that it had when the last process ended. */
  private addressesLeft: readonly string[] = [];
  /** Flows of frontends that went while nothing tells the next process of them. */
  readonly unknownFlows = new WeakSet<Connection>();
  /** Since all was quiet a process was killed, or others changed its rules: these may not tell of frontends that went. */
  mayForgetFrontends = false;
  /** How many commits there had been when a table came that kube-proxy cannot take over. */
  untakenAt = -1;
  /** Since when something may have been refused, without an end. */
  refusedSince = Infinity;
  /** How often everything was listed until then, and how often a Service was blamed, and what was logged. */
  private lists = 0;
  private expiredWatches = 0;
  private blames = 0;
  private lines = 0;

  constructor(readonly schedule: Schedule) {
    const { settings } = schedule;
    this.world = new World(settings);
    enter(this.world);
    startProgramsOf(() => this.world.machine.hostOf(this.world.proxy));
    this.mode = settings.mode;
    this.modes = new Set([settings.mode]);
    this.arguments = settings.arguments;
    this.cluster = new SimulatedCluster(this.world);
    this.history = new ClusterHistory(
      {
        name: settings.nodeName,
        zone: 'zone-a',
        addresses: { ...this.cluster.nodeAddresses },
        localNetworks: localNetworks(settings, this.cluster.podNetworks),
      },
      settings.families,
    );
    this.kubeProxy = new KubeProxy(this);
    this.everyCommit = new EveryCommit(this);
    this.whenQuiet = new WhenQuiet(this);
    this.writeBudget = new WriteBudget(this);
  }

  /** To be called once. */
  async run(): Promise<Outcome> {
    const { world, cluster, history } = this;
    await cluster.open();
    cluster.api.store.subscribe(history.follow);
    this.everyCommit.begin();
    this.writeBudget.begin();
    new ForeignRules(this).begin();
    new SurvivingFlows(this).begin();
    this.draining.begin();
    let began = world.now;
    const lastStep = this.schedule.steps.at(-1);
    for (const step of this.schedule.steps) {
      await this.until(began + step.at);
      if (this.isOver) break;
      this.isLast = step === lastStep;
      await this.perform(step);
      // The time until all is quiet is no part of the schedule, or what follows would happen at once.
      if (step.name === 'settle') began = world.now - step.at;
    }
    if (!this.isOver && this.performed.length > 0) await this.settle();
    if (!this.isOver && world.random.isOneIn(ONE_LAST_END_IN)) await this.askToStop();
    const { violation } = this;
    for (const life of [world.proxy.life, cluster.life, world.fate]) await world.scheduler.end(life);
    return {
      ...(violation && { violation }),
      commits: this.everyCommit.commits,
      turns: world.scheduler.turns,
      active: this.active,
    };
  }

  /** Asks the program to stop, for good. */
  private async askToStop(): Promise<void> {
    const { world } = this;
    const { proxy } = world;
    proxy.raise('SIGTERM');
    await world.scheduler.runUntil(world.now + STOPS_WITHIN, () => !proxy.isRunning);
    if (proxy.exitCode !== 0)
      this.breaks('it stops when it is asked to', `it has ended with ${proxy.exitCode}`);
  }

  /** Starts the program as an operator does, unless it runs. */
  start(): void {
    const { world } = this;
    if (world.proxy.isRunning) return;
    this.modes.add(this.mode);
    world.machine.isProxying = this.mode === 'userspace';
    const { links } = world.machine;
    for (const address of this.addressesLeft) if (!links.isLocal(address)) this.lostUnseen.add(address);
    const proxy = ProxyProcess.start(world, argumentsOf(this));
    proxy.life.onEnd(() => {
      this.addressesLeft = OTHER_ADDRESSES.filter((address) => links.isLocal(address));
    });
    // As the kubelet does with a program that fails.
    proxy.life.onEnd(() => {
      this.mayForgetFrontends ||= proxy.exitCode === undefined;
      if (proxy.remains !== undefined) this.breaks('nothing is left at the end', proxy.remains);
      if (proxy.exitCode === 1) world.scheduler.after(RESTARTED_AFTER, () => this.start(), world.fate);
    });
  }

  asCluster(work: () => void): void {
    this.world.scheduler.as(this.cluster.life, work);
  }

  /** Kills the process before a call that it makes, and starts another one after a pause. */
  killAfter(calls: number, pause: number): void {
    const { world } = this;
    const { proxy } = world;
    world.machine.beforeCall(proxy, calls, () => {
      proxy.kill();
      world.scheduler.after(pause, () => this.start(), world.fate);
    });
  }

  /** Does something after so many turns of whichever process of the program runs then, unless all trouble ends before. */
  afterTurns(turns: number, run: (proxy: ProxyProcess) => void): void {
    const { scheduler, machine } = this.world;
    const over = (): void => {
      scheduler.beforeTurn = () => undefined;
    };
    let left = turns;
    scheduler.beforeTurn = (owner) => {
      const { proxy } = this.world;
      if (owner !== proxy.life || left-- > 0) return;
      over();
      run(proxy);
    };
    machine.endAfter(Infinity, over);
  }

  /** @param change what is different when it is started again */
  restartOnceEnded(pause: number, change: () => void = () => undefined): void {
    const { world } = this;
    const { proxy } = world;
    proxy.life.onEnd(() => {
      change();
      world.scheduler.after(pause, () => this.start(), world.fate);
    });
  }

  /**
   * Ends all trouble and waits until the program has everything; checks that it has, and that what it says is true.
   * Takes the process to be started again where it ended.
   */
  async settle(): Promise<void> {
    const { world } = this;
    await this.judgeTrouble();
    const unserved = await unservedBeside(this, this.performed);
    if (unserved !== undefined) this.breaks('a refusal concerns nobody else', unserved);
    const silent = await unreportedRejection(this, this.performed);
    if (silent !== undefined) this.breaks('rejected Services have events', silent);
    const steps = this.performed;
    this.performed = [];
    if (steps.some(leavesSilence)) this.silencedAt = world.now;
    if (steps.some(isOfOthers)) this.othersWroteAt = world.now;
    this.asCluster(() => endTrouble(this));
    world.machine.endTrouble();
    this.kubeProxy.end();
    const end = world.now + timeToQuiet(this, steps);
    let pause = LOOK_AFTER;
    while (world.now < end && !this.isOver) {
      await this.until(Math.min(end, world.now + pause));
      pause = Math.min(pause * LOOKED_LATER, LOOK_AT_LEAST);
      // What is listed until then comes from before.
      if (this.whenQuiet.isQuiet() && !this.cluster.api.cache.isBehind) break;
      const missing = await falsePraise(this, [...this.formerly, ...steps]);
      if (missing !== undefined) this.breaks('what is missing is not called good', missing);
    }
    if (this.isOver) return;
    this.writeBudget.check();
    await this.whenQuiet.check(this.isLast, end);
    const abandoned = await abandonedMemory(this, [...this.formerly, ...steps]);
    if (abandoned !== undefined) this.breaks('nobody is remembered for an endpoint that is gone', abandoned);
    this.judge([...this.formerly, ...steps]);
    const { isFollowedCompletely } = this.cluster;
    // What some watch still waits to list has its reason there: without Services all is quiet before a start has listed anything.
    const lately = isFollowedCompletely ? steps.filter(({ name }) => name !== 'start') : steps;
    this.formerly = isFollowedCompletely && !mayFindSilence(this) ? lately : [...this.formerly, ...lately];
    if (this.isOver) return;
    // A watch that is not back yet goes through what was there meanwhile when it comes; so does one of which the program does not know yet
    // that it is silent.
    if (this.cluster.isFollowed && !mayFindSilence(this) && !this.writeBudget.mayWaitWithNews) {
      this.history.settle();
      this.writeBudget.settle();
    }
    this.modes.clear();
    this.modes.add(this.mode);
    this.everyCommit.settled();
    this.settledBy = world.proxy;
    this.refusedSince = Infinity;
    this.mayForgetFrontends = false;
  }

  /** While it still lasts: the program does not say that all is well, once it may know better. */
  private async judgeTrouble(): Promise<void> {
    const mayKnow = this.world.now - this.performedAt >= LOOK_AFTER;
    if (!mayKnow || !this.performed.some(refuses)) return;
    const missing = await falsePraise(this, [...this.formerly, ...this.performed]);
    if (missing !== undefined) this.breaks('what is missing is not called good', missing);
  }

  /** Whether what the program did is more than these steps ask for. */
  private judge(steps: readonly Step[]): void {
    const [lists, blames] = [listsSoFar(this), blamesSoFar(this)];
    // A watch that has heard of nothing since the history was forgotten finds out when it ends, however much later.
    const { expiredWatches } = this.cluster.api;
    if (needsNoLists(steps) && expiredWatches === this.expiredWatches && lists > this.lists)
      this.breaks('nothing is listed without a reason', `${lists - this.lists} lists of the API server`);
    if (isNobodysFault(steps, this.mode) && blames > this.blames)
      this.breaks('nobody is blamed without a reason', `${blames - this.blames} more events`);
    const complained = complaint(this, steps, this.lines);
    if (complained !== undefined) this.breaks('nothing is complained of without a reason', complained);
    this.lists = lists;
    this.expiredWatches = expiredWatches;
    this.blames = blames;
    this.lines = linesSoFar(this);
  }

  /** Several Services may want one address. */
  get isContested(): boolean {
    return this.schedule.steps.some(({ args }) => args.some((arg) => arg.startsWith('shared=')));
  }

  /** What follows this beginning of an argument of the program; undefined if it has none. */
  argument(beginning: string): string | undefined {
    return this.arguments.find((argument) => argument.startsWith(beginning))?.slice(beginning.length);
  }

  /** A promise is broken now. */
  breaks(promise: string, detail: string): void {
    this.report({ promise, detail, at: this.world.now - this.world.beganAt });
  }

  report(violation: Violation): void {
    this.whenQuiet.violation ??= violation;
  }

  get violation(): Violation | undefined {
    return this.everyCommit.violation ?? this.whenQuiet.violation;
  }

  private get isOver(): boolean {
    return this.violation !== undefined;
  }

  private until(time: number): Promise<void> {
    return this.world.scheduler.runUntil(time, () => this.isOver);
  }

  /** How long ago this step was performed, in milliseconds. */
  timeSince(step: Step): number {
    return this.world.now - (this.times.get(step) ?? 0);
  }

  private async perform(step: Step): Promise<void> {
    this.times.set(step, this.world.now);
    if (step.name !== 'settle') {
      this.performed.push(step);
      this.writeBudget.perform(step);
      this.performedAt = this.world.now;
    }
    if (leavesSilence(step)) this.silencedAt = this.world.now;
    if (refuses(step)) this.refusedSince = Math.min(this.refusedSince, this.world.now);
    await stepKind(step.name).perform(this, step.args);
  }
}
