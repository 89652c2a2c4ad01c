import type { Step } from '../../domain/failover/port-failover.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { EventRecorder } from '../ports/event-recorder.js';
import type { Logger } from '../ports/logger.js';

/** How many steps there have been since the start, by what and why. */
export type StepCounts = ReadonlyMap<Step['why'], number>;

/** Tells of endpoints that step aside and return, in the log, as events on their Services, and in numbers. */
export class EjectionReports {
  private readonly counts = new Map<Step['why'], number>();
  private readonly said = new Set<string>();

  constructor(
    private readonly nodeName: string,
    private readonly events: EventRecorder,
    private readonly logger: Logger,
  ) {}

  get stepCounts(): StepCounts {
    return this.counts;
  }

  stepped({ key: servicePort, family, name }: ForwardingEntry, step: Step): void {
    const { place: endpoint, what, why } = step;
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1);
    if (what === 'returned') {
      this.logger.info({ servicePort, family, endpoint, why }, 'an endpoint gets new connections again');
      return;
    }
    const { seconds } = step;
    this.logger.warn({ servicePort, family, endpoint, why, seconds }, 'a silent endpoint steps aside');
    this.events.record({
      regarding: { kind: 'Service', namespace: name.namespace, name: name.name },
      type: 'Warning',
      reason: 'SilentEndpointStepsAside',
      action: 'EjectSilentEndpoint',
      // Without the time, so that a repetition is the same event.
      note: `node ${this.nodeName}: endpoint ${endpoint} of ${servicePort} (${family}) is listed as ready, but the last connections to it got no answer; new ones go to others for a while`,
    });
  }

  /** Says once what keeps silent endpoints from stepping aside. */
  blind(reasons: readonly string[], facts: Readonly<Record<string, unknown>> = {}): void {
    for (const reason of reasons) {
      if (this.said.has(reason)) continue;
      this.said.add(reason);
      this.logger.warn(facts, reason);
    }
  }
}
