import {
  PortFailover,
  type Ejection,
  type PortObservation,
  type EjectionStep,
} from '../../domain/failover/port-failover.js';
import type { EjectedEndpoints } from '../../domain/failover/ejected-endpoints.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { getOrMake } from '../../domain/model/maps.js';
import { serviceOf } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { wholeLists } from '../../domain/select-endpoints.js';
import { familyPortKey, type FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { CountingFacts } from '../../domain/traffic/sample.js';
import type { PortTraffic } from '../../domain/traffic/traffic-table.js';
import type { Clock } from '../ports/clock.js';
import type { ForwardingListener } from '../ports/forwarding-listener.js';
import type { EndpointConnector } from '../ports/node/endpoint-connections.js';
import { ConntrackUnavailableError } from '../ports/node/conntrack.js';
import { PeriodicCheck, type CountingTargets } from '../traffic/periodic-check.js';
import { compactTexts } from '../words.js';
import type { EjectionLookup, EjectionTimes, EjectionStatus } from '../status/port-status.js';
import { distinctCount, endpointPlace } from '../../domain/model/endpoint.js';
import { unresponsive } from '../../domain/verdict/sentences.js';
import { verdictEvent } from '../use-cases/port-events.js';
import { OwnConnects } from './own-connects.js';
import type { EventRecorder } from '../ports/event-recorder.js';
import type { Logger } from '../ports/logger.js';

/** No endpoint is ejected for this time after events were lost, in milliseconds. */
const DISTRUST = 10_000;
const NOT_COUNTED = 'connections cannot be counted, so no unresponsive endpoint is ejected';

/**
 * Use case EjectUnresponsiveEndpoints: checks the connections of service ports that eject unresponsive endpoints every second, and recomputes their
 * entries when an endpoint is ejected or returns. Without such service ports nothing is counted. A restart forgets ejections.
 */
export class EjectUnresponsiveEndpoints implements EjectionStatus {
  /** Service ports that eject unresponsive endpoints, as last programmed. */
  private readonly entries = new Map<FamilyPortKey, ForwardingEntry>();
  /** Of service ports with ejected or unresponsive endpoints. */
  private readonly failovers = new Map<FamilyPortKey, PortFailover>();
  /** Times of day. Computed once: the difference of the clocks varies by a fraction of a millisecond each time. */
  private readonly times = new WeakMap<Ejection, EjectionTimes>();
  private readonly ownConnects: OwnConnects;
  private readonly counting: PeriodicCheck;
  private isStopped = false;
  /** Why connections cannot be counted, since it was last tried. */
  private unavailable: ConntrackUnavailableError | undefined;
  private timesLost = 0;
  private lostAt = -Infinity;

  constructor(
    /** Called when counting begins. */
    private readonly targets: () => CountingTargets,
    private readonly reports: EjectionReports,
    connector: EndpointConnector,
    private readonly clock: Clock,
    /** Why this mode cannot eject endpoints, for people; then nothing is counted. */
    private readonly incapable?: string,
  ) {
    this.ownConnects = new OwnConnects(connector, clock, (port) => {
      if (this.counting.isRunning) this.check([port]);
    });
    this.counting = new PeriodicCheck(targets, 'evidence', () => this.check(), clock);
  }

  /** The ejected endpoints of a family, at any time. */
  ejectedEndpoints(family: IpFamily): EjectedEndpoints {
    return (port) => this.failovers.get(`${family} ${port}`)?.ejected;
  }

  /** Follows the forwarding of a family. */
  listener(family: IpFamily): ForwardingListener {
    return {
      programmed: ({ changes }) => {
        for (const { key, entry } of changes) {
          const port = familyPortKey({ family, key });
          if (entry?.ejectsUnresponsiveEndpoints) this.entries.set(port, entry);
          else if (this.entries.delete(port)) this.forget({ family, key });
        }
        if (this.entries.size === 0) this.counting.stop();
        else if (!this.counting.isRunning && !this.isStopped) this.startCounting();
      },
    };
  }

  readonly ejectionTimes: EjectionLookup = (port, place) => {
    const ejection = this.failovers.get(port)?.ejected.get(place);
    if (!ejection) return undefined;
    return getOrMake(this.times, ejection, () => {
      const sinceEpoch = this.clock.now() - this.clock.steady();
      return { since: sinceEpoch + ejection.since, until: sinceEpoch + ejection.until };
    });
  };

  *portsWithEjections(): Generator<ForwardingEntry> {
    for (const [port, { ejected }] of this.failovers) if (ejected.size > 0) yield this.entries.get(port)!;
  }

  /** The number of ejected endpoints of a family. */
  ejectedCount(family: IpFamily): number {
    let count = 0;
    for (const [port, { ejected }] of this.failovers) if (port.startsWith(family)) count += ejected.size;
    return count;
  }

  /** Why unresponsive endpoints cannot be ejected at present, for people. Empty if no service port ejects endpoints. */
  get warnings(): readonly string[] {
    if (this.entries.size === 0) return [];
    if (this.incapable !== undefined) return [this.incapable];
    if (this.unavailable) return [`${NOT_COUNTED}: ${this.unavailable.message}`];
    const { facts } = this.targets().traffic.counted() ?? {};
    return facts ? [...detectionLimits(facts), ...temporaryLimits(facts, !this.isTrusting())] : [];
  }

  get stepCounts(): StepCounts {
    return this.reports.stepCounts;
  }

  /** Idempotent. */
  stop(): void {
    this.isStopped = true;
    this.ownConnects.stop();
    this.counting.stop();
  }

  private startCounting(): void {
    if (this.incapable !== undefined) return this.reports.reportLimits([this.incapable]);
    this.unavailable = undefined;
    try {
      this.counting.start();
    } catch (error) {
      if (!(error instanceof ConntrackUnavailableError)) throw error;
      this.unavailable = error;
      this.reports.reportLimits([NOT_COUNTED], { error });
    }
  }

  /** @param ports those to judge; missing: all with counted connections or earlier ejections */
  private check(ports?: Iterable<FamilyPortKey>): void {
    const { traffic, recompute } = this.targets();
    const counted = traffic.counted();
    if (!counted) return;
    this.reports.reportLimits(detectionLimits(counted.facts));
    const isReliable = this.isReliable(counted.facts);
    for (const port of ports ?? new Set([...counted.ports.keys(), ...this.failovers.keys()])) {
      const entry = this.entries.get(port);
      if (!entry) continue;
      const steps = this.judge(port, entry, counted.ports.get(port), isReliable);
      for (const step of steps) this.reports.stepped(entry, step);
      if (steps.length > 0) recompute(entry.family, serviceOf(entry.key));
    }
    this.ownConnects.start();
  }

  private judge(
    port: FamilyPortKey,
    entry: ForwardingEntry,
    traffic: PortTraffic | undefined,
    isReliable: boolean,
  ): readonly EjectionStep[] {
    const known = this.failovers.get(port);
    const isSuspected = traffic !== undefined && hasUnanswered(traffic);
    if (!isSuspected && (known?.isIdle ?? true)) {
      this.forget(entry);
      return [];
    }
    const failover = getOrMake(this.failovers, port, () => new PortFailover());
    const observation: PortObservation = {
      now: this.clock.steady(),
      lists: wholeLists(entry.endpoints),
      evidenceOf: (place) => traffic?.endpoints.get(place)?.evidence,
      ownAttempts: (place) => this.ownConnects.of(port, place),
      isReliable,
    };
    const steps = failover.update(observation);
    this.ownConnects.request(entry, failover.placesToTry(observation));
    return steps;
  }

  private forget(entry: Pick<ForwardingEntry, 'family' | 'key'>): void {
    this.failovers.delete(familyPortKey(entry));
    this.ownConnects.forget(entry);
  }

  private isReliable({ complete, eventLosses }: CountingFacts): boolean {
    if (eventLosses !== this.timesLost) this.lostAt = this.clock.steady();
    this.timesLost = eventLosses;
    return complete && this.isTrusting();
  }

  /** No event was lost recently. */
  private isTrusting(): boolean {
    return this.clock.steady() - this.lostAt >= DISTRUST;
  }
}

function hasUnanswered({ endpoints }: PortTraffic): boolean {
  for (const { evidence } of endpoints.values()) if (evidence.unanswered.length > 0) return true;
  return false;
}

/** Reasons why some unresponsive endpoints cannot be detected on this machine, for people. */
function detectionLimits({ servicesTracked, bridgedHidden }: CountingFacts): readonly string[] {
  return compactTexts(
    !servicesTracked &&
      'connections through IPVS are not tracked, so unresponsive endpoints are not detected: set net.ipv4.vs.conntrack to 1',
    bridgedHidden &&
      'net.bridge.bridge-nf-call-iptables is 1, so connections of pods to a dead endpoint on their own bridge are not tracked: only connections of other clients lead to its ejection',
  );
}

/** Why no endpoint is ejected at present, for people. */
function temporaryLimits({ complete, readRatio }: CountingFacts, eventsWereLost: boolean): readonly string[] {
  return compactTexts(
    !complete &&
      `${Math.floor(100 * readRatio)}% of the connections have been read; no endpoint is ejected until all have been read`,
    eventsWereLost && 'connection events were lost, so no endpoint is ejected for 10 s',
  );
}

/** The number of ejections and returns since the start, by reason. */
export type StepCounts = ReadonlyMap<EjectionStep['why'], number>;

/** Reports ejected and returning endpoints: in the log, as events on their Services, and as counts. */
export class EjectionReports {
  private readonly counts = new Map<EjectionStep['why'], number>();
  private readonly reported = new Set<string>();

  constructor(
    private readonly nodeName: string,
    private readonly events: EventRecorder,
    private readonly logger: Logger,
  ) {}

  get stepCounts(): StepCounts {
    return this.counts;
  }

  stepped(entry: ForwardingEntry, step: EjectionStep): void {
    const { key: servicePort, family, name } = entry;
    const { place: endpoint, what, why } = step;
    this.counts.set(why, (this.counts.get(why) ?? 0) + 1);
    if (what === 'returned') {
      this.logger.info(
        { servicePort, family, endpoint, why },
        'an ejected endpoint gets new connections again',
      );
      return;
    }
    const { seconds } = step;
    this.logger.warn({ servicePort, family, endpoint, why, seconds }, 'ejected an unresponsive endpoint');
    const ready = entry.flowEligibleEndpoints.filter((one) => one.ready);
    const ejected = ready.filter((one) => endpointPlace(one) === endpoint);
    if (ejected.length === 0) return;
    // Without the time, so that a repetition is the same event.
    this.events.record(
      verdictEvent(
        serviceOf(servicePort),
        unresponsive(name.namespace, ejected, distinctCount(ready)),
        'EjectEndpoint',
        `node ${this.nodeName}, ${family}`,
      ),
    );
  }

  /** Logs once why unresponsive endpoints cannot be ejected. */
  reportLimits(reasons: readonly string[], facts: Readonly<Record<string, unknown>> = {}): void {
    for (const reason of reasons) {
      if (this.reported.has(reason)) continue;
      this.reported.add(reason);
      this.logger.warn(facts, reason);
    }
  }
}
