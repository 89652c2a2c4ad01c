import type { Step } from '../../domain/failover/port-failover.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { CountingFacts } from '../../domain/traffic/traffic-report.js';
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

  /** Says once which silent endpoints cannot be seen. */
  blindness({ tracksServices, hidesDeadOnBridges }: CountingFacts): void {
    if (!tracksServices)
      this.once(
        'connections through IPVS are not tracked, so silent endpoints are not seen, and none steps aside: set net.ipv4.vs.conntrack to 1',
      );
    if (hidesDeadOnBridges)
      this.once(
        "connections of pods to a dead endpoint on their own bridge are not seen, since net.bridge.bridge-nf-call-iptables is 1: such an endpoint steps aside only for other clients' sake",
      );
  }

  unavailable(error: unknown): void {
    this.once('connections cannot be counted, so no silent endpoint steps aside', { error });
  }

  private once(message: string, facts: Readonly<Record<string, unknown>> = {}): void {
    if (this.said.has(message)) return;
    this.said.add(message);
    this.logger.warn(facts, message);
  }
}
