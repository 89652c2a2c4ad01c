/** Connections of the proxy through its own rules, which prove that this node forwards. */

import {
  afterCheck,
  CHECK_KEY,
  checkEntry,
  forwardingFault,
  UNCHECKED,
  type ForwardingState,
} from '../../domain/forwarding/forwarding-check.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { getOrMake } from '../../domain/model/maps.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { errorMessage } from '../error-message.js';
import type { ForwardingObstacles } from '../node/forwarding-obstacles.js';
import type { ApplyResult, Backend } from '../ports/backend.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { ClusterEvent, EventRecorder } from '../ports/event-recorder.js';
import type { Logger } from '../ports/logger.js';
import type { ForwardingProbe, OpenForwardingProbe } from '../ports/node/forwarding-probe.js';
import type { ProxyHealth } from './proxy-health.js';

/** From the start of a check to that of the next. Milliseconds. */
const PERIOD = 10_000;

interface CheckForwardingOptions {
  readonly nodeName: string;
  readonly probe: ForwardingProbe;
  /** For each check. Undefined: no setting of the kernel is read. */
  readonly obstacles: () => Pick<ForwardingObstacles, 'renew' | 'notForwarded'> | undefined;
  readonly health: Pick<ProxyHealth, 'setForwardingFault'>;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Use case: opens a connection through the rules of each family from time to time. Its frontend is a service port that the backend gets
 * besides those of Services, so every mode compiles, verifies and repairs it like them. After three failures in a row the proxy is not
 * healthy, and with the first success it is again. A repair of the rules takes less time than three checks.
 */
export class CheckForwarding {
  private readonly checks = new Map<IpFamily, FamilyCheck>();
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(private readonly options: CheckForwardingOptions) {}

  /** A backend that also programs the frontend of the check. Its results are about the other service ports only. */
  checked(backend: Backend): Backend {
    const check = getOrMake(this.checks, backend.family, () => new FamilyCheck(backend.family, this.options));
    return withCheck(backend, check);
  }

  /** Of the families that have been checked. */
  get states(): ReadonlyMap<IpFamily, ForwardingState> {
    const states = Array.from(this.checks, ([family, { state }]) => [family, state] as const);
    return new Map(states.filter(([, state]) => state !== UNCHECKED));
  }

  /** The families whose connections fail for an unknown cause, with the port to which they lead. */
  get faults(): readonly { readonly family: IpFamily; readonly port: number }[] {
    return Array.from(this.checks.values()).flatMap(({ family, state, failedPort }) =>
      failedPort !== undefined && forwardingFault(state) !== undefined ? [{ family, port: failedPort }] : [],
    );
  }

  /** Why a family cannot be checked, for people. */
  get warnings(): readonly string[] {
    return Array.from(this.checks.values()).flatMap(({ warning }) => warning ?? []);
  }

  /** Checks after a period for the first time. To be called once. */
  start(): void {
    this.schedule(PERIOD);
  }

  /** Removes frontends that the next process will not have. To be called once nothing else uses the backends. Idempotent. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await Promise.all(Array.from(this.checks.values(), (check) => check.stop()));
  }

  private schedule(milliseconds: number): void {
    const { clock } = this.options;
    this.timer = clock.after(milliseconds, () => {
      const started = clock.steady();
      void this.checkAll().then(() => {
        if (!this.isStopped) this.schedule(Math.max(0, started + PERIOD - clock.steady()));
      });
    });
  }

  private async checkAll(): Promise<void> {
    const obstacles = this.options.obstacles();
    await obstacles?.renew();
    const checks = Array.from(this.checks.values(), (check) =>
      check.run(obstacles?.notForwarded(check.family)),
    );
    await Promise.all(checks);
  }
}

/** The check of one family: *closed* until its ports are taken, then *due* until the backend has its rules. */
class FamilyCheck {
  state = UNCHECKED;
  /** Why it is closed, for people. */
  warning: string | undefined;
  /** The service port to be programmed; undefined while it is closed. */
  entry: ForwardingEntry | undefined;
  /** Where the last connection led, if it failed. */
  failedPort: number | undefined;
  /** Removes it from the backend. */
  remove: () => Promise<unknown> = () => Promise.resolve();
  private path: OpenForwardingProbe | undefined;
  private isProgrammed = false;
  /** Why the backend could not program it. */
  private rejection: string | undefined;
  private isStopped = false;

  constructor(
    readonly family: IpFamily,
    private readonly options: CheckForwardingOptions,
  ) {}

  get isDue(): boolean {
    return this.path !== undefined && !this.isProgrammed;
  }

  /** Never rejects. */
  async open(): Promise<void> {
    if (this.path || this.isStopped) return;
    const { family } = this;
    const { probe, logger } = this.options;
    try {
      const path = await probe.open(family);
      if (this.isStopped) return path.close();
      this.path = path;
      this.entry = checkEntry(family, path);
      this.warning = undefined;
    } catch (error) {
      const warning = `${family}: forwarding is not checked: ${errorMessage(error)}`;
      if (warning !== this.warning) logger.warn({ family, error }, 'forwarding cannot be checked; retrying');
      this.warning = warning;
    }
  }

  /** Takes its own part out of a result of the backend. @param isIncluded the call was also about its service port */
  without<Result extends ApplyResult>(result: Result, isIncluded: boolean): Result {
    const { failed, notes } = result;
    const own = failed.find(({ key }) => key === CHECK_KEY);
    if (own || isIncluded) this.settle(own?.reason);
    return {
      ...result,
      failed: failed.filter(({ key }) => key !== CHECK_KEY),
      ...(notes && { notes: notes.filter(({ key }) => key !== CHECK_KEY) }),
    };
  }

  /** Its service port was programmed, or was not. */
  settle(rejection: string | undefined): void {
    this.isProgrammed = rejection === undefined;
    this.rejection = rejection;
  }

  /** @param setting that keeps packets from being forwarded, for people. Never rejects. */
  async run(setting: string | undefined): Promise<void> {
    await this.open();
    const rejection = this.rejection && `the rules of the check cannot be programmed: ${this.rejection}`;
    const path = this.isProgrammed ? this.path : undefined;
    const cause = setting ?? rejection;
    const problem = cause ?? (await path?.attempt());
    this.failedPort = cause === undefined && problem !== undefined ? path?.frontend : undefined;
    const isKnown = path !== undefined || problem !== undefined || this.state.problem !== undefined;
    if (isKnown && !this.isStopped) this.record(problem);
  }

  /** Never rejects. Idempotent. */
  async stop(): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    if (this.path?.isUsual === false)
      await this.remove().catch((error: unknown) =>
        this.options.logger.warn({ family: this.family, error }, 'cannot remove the rules of the check'),
      );
    this.path?.close();
  }

  private record(problem: string | undefined): void {
    const { family } = this;
    const { logger, health, events } = this.options;
    const before = this.state;
    this.state = afterCheck(before, problem);
    const [faultBefore, fault] = [forwardingFault(before), forwardingFault(this.state)];
    if (problem !== undefined && problem !== before.problem)
      logger.warn({ family, problem }, 'a check of forwarding failed');
    health.setForwardingFault(family, fault);
    if ((fault === undefined) === (faultBefore === undefined)) return;
    if (fault === undefined) logger.info({ family }, 'this node forwards again');
    else
      logger.error(
        { family, problem },
        'this node does not forward; it is not healthy until a check succeeds',
      );
    events.record(this.event(fault));
  }

  private event(fault: string | undefined): ClusterEvent {
    const { nodeName } = this.options;
    return {
      regarding: { kind: 'Node', namespace: '', name: nodeName },
      type: fault === undefined ? 'Normal' : 'Warning',
      reason: fault === undefined ? 'ForwardingRecovered' : 'ForwardingFailed',
      action: 'CheckForwarding',
      note: `${this.family}: ${fault ?? 'packets to Services are forwarded again'}`,
    };
  }
}

/** The backend, with the service port of the check among the others. */
function withCheck(backend: Backend, check: FamilyCheck): Backend {
  let node: NodeNetwork | undefined;
  const own: Pick<Backend, 'start' | 'apply' | 'verify'> = {
    async start(entries, network, options) {
      await check.open();
      node = network;
      const { entry } = check;
      const all = entry ? [...entries, entry] : entries;
      return check.without(await backend.start(all, network, options), entry !== undefined);
    },
    async apply(changes, network, signal) {
      const entry = check.isDue || network !== node ? check.entry : undefined;
      node = network;
      const all = entry ? [...changes, { key: CHECK_KEY, entry }] : changes;
      return check.without(await backend.apply(all, network, signal), entry !== undefined);
    },
    async verify(how, signal) {
      const result = check.without(await backend.verify(how, signal), false);
      // Nothing else retries what has failed: the caller does not know the service port.
      const entry = check.isDue ? check.entry : undefined;
      if (entry && node)
        await backend.apply([{ key: CHECK_KEY, entry }], node, signal).then(
          (applied) => check.without(applied, true),
          (error: unknown) => check.settle(errorMessage(error)),
        );
      return result;
    },
  };
  check.remove = async () => {
    if (node && check.entry) await backend.apply([{ key: CHECK_KEY, entry: undefined }], node);
  };
  return new Proxy(backend, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof typeof own];
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
