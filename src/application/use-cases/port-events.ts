/** Events and log lines about verdicts on Services. */

import { OUR_ANNOTATIONS } from '../../domain/decode/annotations.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import { textHash } from '../../domain/model/text.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { ignoredPart, programmingFailed } from '../../domain/verdict/sentences.js';
import { CAUSES, type Cause, type Verdict } from '../../domain/verdict/verdict.js';
import { MessageRate } from '../message-rate.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { ClusterEvent, EventRecorder, EventSubject } from '../ports/event-recorder.js';
import type { Logger } from '../ports/logger.js';
import type { FailedStatus } from '../status/port-status.js';
import type { JudgedService, Problem, VerdictChanged } from '../status/service-verdicts.js';

/** An event about a verdict. @param about what it concerns besides the Service; empty: the Service alone */
export function verdictEvent(
  service: ServiceKey,
  { cause, reason, nextStep, state }: Verdict,
  action: string,
  about = '',
): ClusterEvent {
  const sentence = nextStep === undefined ? reason : `${reason}; ${nextStep}`;
  return {
    regarding: subjectOf(service),
    type: state === 'ok' ? 'Normal' : 'Warning',
    reason: cause ?? 'Ok',
    action,
    note: about === '' ? sentence : `${about}: ${sentence}`,
  };
}

function subjectOf(service: ServiceKey): EventSubject {
  const [namespace = '', name = ''] = service.split('/');
  return { kind: 'Service', namespace, name };
}

/** `tcp/http (IPv4)`. */
function portOf(family: IpFamily, key: ServicePortKey): string {
  return `${key.slice(serviceOf(key).length + 1)} (${family})`;
}

/** An event that every node records: its name follows from its text, so that one of them creates it. */
function ofAllNodes(event: ClusterEvent): ClusterEvent {
  const hash = textHash(`${event.reason} ${event.note}`).toString(16);
  return { ...event, name: `${event.regarding.name}.${hash}` };
}

/**
 * Records an event on the Service when one of its ports fails to be programmed on this node; not for one that was never tried by
 * itself. Failures for the same reason are the same event.
 */
export function failedPortEvents(
  events: EventRecorder,
  nodeName: string,
): (family: IpFamily, key: ServicePortKey, status: FailedStatus) => void {
  return (family, key, { reason, attempts, limitedBy }) => {
    if (attempts === 0) return;
    const verdict = programmingFailed(reason, limitedBy);
    const about = `node ${nodeName}, ${portOf(family, key)}`;
    events.record(verdictEvent(serviceOf(key), verdict, 'SyncProxyRules', about));
  };
}

/** Of a degraded service port. */
const LIMITS: ReadonlySet<Cause | undefined> = new Set(['FrontendConflict', 'LimitedProgramming']);

/**
 * Records an event on the Service when one of its ports is degraded, as where its address belongs to
 * another Service. Not too often for one Service: it may have very many ports.
 * @param verdictsOf of a service port
 */
export function degradedPortEvents(
  events: EventRecorder,
  nodeName: string,
  clock: Pick<Clock, 'steady'>,
  verdictsOf: (family: IpFamily, key: ServicePortKey) => readonly Verdict[],
): (family: IpFamily, key: ServicePortKey) => void {
  const rate = new MessageRate(clock);
  return (family, key) => {
    const service = serviceOf(key);
    if (!rate.admit(service)) return;
    const port = portOf(family, key);
    const eventOf = (verdict: Verdict, about: string): ClusterEvent =>
      verdictEvent(service, verdict, 'SyncProxyRules', about);
    for (const verdict of verdictsOf(family, key))
      if (verdict.cause === 'FrontendConflict') events.record(ofAllNodes(eventOf(verdict, port)));
      else if (LIMITS.has(verdict.cause)) events.record(eventOf(verdict, `node ${nodeName}, ${port}`));
  };
}

/** Called with the ignored parts of an object of a Service when they have changed. */
export type IgnoredParts = (service: ServiceKey, object: string, problems: readonly string[]) => void;

/**
 * Records an event on the Service for what is ignored of it or of an EndpointSlice: annotations that this proxy does not
 * understand, and fields.
 */
export function ignoredPartEvents(events: EventRecorder): IgnoredParts {
  return (service, object, problems) => {
    const isOurs = (problem: string): boolean => problem.startsWith(OUR_ANNOTATIONS);
    const record = (isAnnotation: boolean): void => {
      const about = problems.filter((problem) => isOurs(problem) === isAnnotation);
      if (about.length > 0)
        events.record(
          ofAllNodes(
            verdictEvent(service, ignoredPart(object, about.join('; '), isAnnotation), 'ReadObject'),
          ),
        );
    };
    record(true);
    record(false);
  };
}

/**
 * Logs when the verdict on a Service changes: errors of this node as warnings, their end and limits of this node as information, all
 * else for debugging. Not too often.
 */
export function loggedVerdicts(logger: Logger, clock: Pick<Clock, 'steady'>): VerdictChanged {
  const rate = new MessageRate(clock, logger);
  return ({ service, verdict: { state, cause, reason, nextStep } }, former) => {
    const isFailure = state === 'error' && isNodeCause(cause);
    const isOver = state !== 'error' && former?.state === 'error' && isNodeCause(former.cause);
    const isLimit = state === 'warning' && LIMITS.has(cause);
    if (!isFailure && !isOver && !isLimit)
      return logger.debug({ service, state, cause, reason }, 'the verdict on a Service has changed');
    const suppressed = rate.admit(service);
    if (!suppressed) return;
    const facts = { service, cause, reason, ...(nextStep && { nextStep }), ...suppressed };
    if (isFailure) logger.warn(facts, 'a Service does not work on this node');
    else if (isLimit) logger.info(facts, 'a Service works with limits on this node');
    else logger.info(facts, 'a Service works on this node again');
  };
}

/** Where endpoints run is a matter of the objects, though not the same on every node. */
function isNodeCause(cause: Cause | undefined): boolean {
  return cause !== undefined && CAUSES[cause] === 'node' && cause !== 'NoLocalEndpoint';
}

/** Milliseconds: how long a problem must have lasted, the longest random delay besides, and how often what is due is recorded. */
const LASTING = 30_000;
const LONGEST_DELAY = 300_000;
const CHECK_EVERY = 10_000;
/** At a time. All nodes record the same, and the API server keeps one of each. */
const MOST_AT_ONCE = 5;
/** Problems that wait to be recorded. */
const MOST_WAITING = 1_000;

/**
 * Records an event on a Service for a problem that all nodes have, as when no pod is selected: once it has lasted, and after a random
 * delay. Its name follows from the Service and the cause, so that one of all nodes creates it.
 */
export class LastingProblems {
  /** When each is due, by the steady clock. */
  private readonly due = new Map<ServiceKey, { readonly cause: Cause; readonly at: number }>();
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(
    private readonly events: EventRecorder,
    private readonly verdictOf: (service: ServiceKey) => Verdict | undefined,
    private readonly clock: Pick<Clock, 'after' | 'steady'>,
    private readonly random: () => number = Math.random,
  ) {}

  changed({ service, verdict }: JudgedService, former: Problem | undefined): void {
    const { state, cause } = verdict;
    if (former && former.cause !== cause) this.due.delete(service);
    // Causes of one node have events of their own, or none: `NoLocalEndpoint` is normal on most nodes, so events would be noise.
    if (state === 'ok' || cause === undefined || cause === former?.cause || CAUSES[cause] === 'node') return;
    if (this.isStopped || this.due.size >= MOST_WAITING) return;
    this.due.set(service, { cause, at: this.clock.steady() + LASTING + this.random() * LONGEST_DELAY });
    this.timer ??= this.clock.after(CHECK_EVERY, () => this.check());
  }

  /** Idempotent. */
  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
    this.due.clear();
  }

  private check(): void {
    this.timer = undefined;
    let left = MOST_AT_ONCE;
    for (const [service, { cause, at }] of this.due) {
      if (at > this.clock.steady()) continue;
      this.due.delete(service);
      const verdict = this.verdictOf(service);
      if (verdict?.cause !== cause) continue;
      const [, name = ''] = service.split('/');
      this.events.record({
        ...verdictEvent(service, verdict, 'JudgeService'),
        name: `${name}.${cause.toLowerCase()}`,
      });
      if (--left === 0) break;
    }
    if (this.due.size > 0) this.timer = this.clock.after(CHECK_EVERY, () => this.check());
  }
}
