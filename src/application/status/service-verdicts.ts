import { readService } from '../../domain/decode/read-service.js';
import { OUR_ANNOTATIONS } from '../../domain/decode/annotations.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { weighed } from '../../domain/forwarding/forward-service.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import {
  serviceKey,
  serviceOf,
  type ServiceKey,
  type ServicePortKey,
} from '../../domain/model/service-port-name.js';
import type { Service } from '../../domain/model/service.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import { familyPortKey, type FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { ConflictingFrontend } from '../../domain/verdict/conflicts.js';
import {
  judgeFrontends,
  judgePort,
  type FrontendVerdict,
  type JudgedPort,
  type KernelObstacle,
} from '../../domain/verdict/judge-port.js';
import * as sentences from '../../domain/verdict/sentences.js';
import { worstOf, type Cause, type Verdict, type VerdictState } from '../../domain/verdict/verdict.js';
import { errorMessage } from '../error-message.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { ServiceLookup } from '../ports/cluster-source.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';
import type { EndpointAnswers, UnansweredConnections } from '../traffic/endpoint-answers.js';
import type { ObjectReports } from '../use-cases/object-reports.js';
import type { LocalhostLookup } from './port-status.js';
import type { ServiceStatus, ServiceStatuses } from './service-statuses.js';

/** The part of a sync loop that verdicts depend on. */
export interface JudgedLoop {
  readonly family: IpFamily;
  readonly table: Pick<ForwardingTable, 'entriesOf' | 'entry' | 'has'>;
  /** What could not be read since the start. */
  readonly unreadObjects: readonly string[];
  isWaiting(service: ServiceKey): boolean;
}

/** What verdicts are made of. */
export interface VerdictSources {
  readonly state: ClusterState;
  readonly loops: () => readonly JudgedLoop[];
  readonly statuses: Pick<ServiceStatuses, 'get' | 'failures'>;
  readonly reports: Pick<ObjectReports, 'of' | 'unreadServices'>;
  /** Missing: nothing is counted. */
  readonly answers?: Pick<EndpointAnswers, 'unresponsive'> | undefined;
  /** Settings of the kernel that stop traffic of a service port; missing: none can. */
  readonly obstacles?: ((entry: ForwardingEntry) => readonly KernelObstacle[]) | undefined;
  /** Missing: the proxy listens on no node ports. */
  readonly localhost?: LocalhostLookup | undefined;
  /** Missing where every Service is delivered, as from manifests. */
  readonly lookup?: ServiceLookup | undefined;
}

/** The state of a Service that is not ok, and the cause. */
export interface Problem {
  readonly state: Exclude<VerdictState, 'ok'>;
  readonly cause: Cause;
}

/** A Service and its verdict. */
export interface JudgedService {
  /** `namespace/name`. */
  readonly service: ServiceKey;
  readonly verdict: Verdict;
}

/** Called when the state or the cause of a Service has changed, with the verdict before; undefined: ok, or not known. */
export type VerdictChanged = (judged: JudgedService, former: Problem | undefined) => void;

/** A service port with its verdicts, the worst first, and those of its requested frontends. */
export interface JudgedServicePort extends JudgedPort {
  readonly status: ServiceStatus | undefined;
  readonly verdicts: readonly Verdict[];
  readonly frontends: readonly FrontendVerdict[];
}

/** How many Services are in each state. */
export type VerdictCounts = Readonly<Record<VerdictState, number>>;

/** Changes are judged together after this time in milliseconds, this number of Services in one turn of the event loop. */
const SETTLE = 100;
const AT_ONCE = 1_000;
/** How old may be what is known of endpoints that do not answer: for a request, and for judging changes. Milliseconds. */
const FRESH = 100;
const RECENT = 5_000;

/**
 * The verdict on each Service of this node, from the forwarding tables, the statuses and the objects of the cluster. What is not ok is
 * kept, so that counts and problems cost no walk through all Services; a change costs what it is about.
 */
export class ServiceVerdicts implements Partial<SyncObserver> {
  private readonly problemOf = new Map<ServiceKey, Problem>();
  private readonly touched = new Set<ServiceKey>();
  /** Those of them that are not served. */
  private readonly notProxied = new Set<ServiceKey>();
  private readonly sizes = { warning: 0, error: 0 };
  /** Services with objects that the source rejects, at the last look. */
  private unread: readonly ServiceKey[] = [];
  /** Why ports that Services have no more are still there, by Service; undefined: something has changed since. */
  private removals: ReadonlyMap<ServiceKey, string> | undefined;
  private timer: Timer | undefined;
  private isStopped = false;
  private unresponsive: ReadonlyMap<FamilyPortKey, UnansweredConnections> = new Map();
  private unresponsiveAt = -Infinity;

  constructor(
    private readonly sources: VerdictSources,
    private readonly clock: Pick<Clock, 'after' | 'steady'>,
    private readonly changed: VerdictChanged = () => {},
  ) {}

  /** Something about the Service has changed. Cheap. */
  touch(service: ServiceKey): void {
    this.touched.add(service);
    this.removals = undefined;
    if (!this.isStopped) this.timer ??= this.clock.after(SETTLE, () => this.settleLater());
  }

  /** Something about all Services has changed. */
  touchAll(): void {
    for (const service of this.sources.state.serviceKeys()) this.touch(service);
  }

  serviceEvent(service: ServiceKey): void {
    this.touch(service);
  }

  /** A deferred Service has no service port to report. */
  finished(_: IpFamily, { ok, full }: SyncReport): void {
    if (ok && full) this.touchAll();
  }

  /** Judges what has changed. Idempotent. */
  stop(): void {
    if (!this.isStopped) this.settle();
    this.isStopped = true;
    this.timer?.cancel();
  }

  /** Costs what has changed since the last call. */
  counts(): VerdictCounts {
    this.settle();
    const { warning, error } = this.sizes;
    const all = this.sources.state.serviceCount + this.notProxied.size;
    return { ok: Math.max(0, all - warning - error), warning, error };
  }

  /** So many Services that are not ok: errors first, then by name. Costs what is not ok. */
  problems(limit: number): readonly JudgedService[] {
    this.settle();
    const keysIn = (state: VerdictState): readonly ServiceKey[] =>
      [...this.problemOf].flatMap(([key, problem]) => (problem.state === state ? key : [])).sort();
    const keys = [...keysIn('error'), ...(this.sizes.error < limit ? keysIn('warning') : [])].slice(0, limit);
    return keys.flatMap((service) => {
      const verdict = this.of(service);
      return verdict ? { service, verdict } : [];
    });
  }

  /** The Services that are not ok, in no order. */
  problemKeys(): Iterable<ServiceKey> {
    this.settle();
    return this.problemOf.keys();
  }

  /** The state of a Service when its last change was judged. Cheap. */
  stateOf(service: ServiceKey): VerdictState {
    return this.problemOf.get(service)?.state ?? 'ok';
  }

  /** The verdict on a Service as of now; undefined if no object of it is known. Costs what the Service has. */
  of(service: ServiceKey): Verdict | undefined {
    this.touchUnresponsive(FRESH);
    return this.judge(service, true);
  }

  /** The same, and if the Service is not known here, the API server is queried. Never rejects. */
  async find(service: ServiceKey): Promise<Verdict> {
    const known = this.of(service);
    if (known) return known;
    const { lookup } = this.sources;
    try {
      const raw = await lookup?.find(service);
      if (raw === undefined) return sentences.notFound(service, this.namesakes(service));
      const { ignored } = readService(raw);
      return ignored === undefined ? sentences.undelivered() : sentences.notProxied(ignored);
    } catch (error) {
      return sentences.unknown(service, errorMessage(error));
    }
  }

  /** @param obstacles missing: those that are known */
  port(entry: ForwardingEntry, obstacles?: readonly KernelObstacle[]): JudgedServicePort {
    this.touchUnresponsive(FRESH);
    const port = this.portFacts(entry, obstacles);
    const verdicts = judgePort(this.sources.state, port);
    return { ...port, verdicts, frontends: judgeFrontends(this.sources.state, port, verdicts) };
  }

  /** The verdicts on a service port, the worst first; none if it is gone. */
  ofPort(family: IpFamily, key: ServicePortKey): readonly Verdict[] {
    const loop = this.sources.loops().find((one) => one.family === family);
    const entry = loop?.table.entry(key);
    return entry ? judgePort(this.sources.state, this.portFacts(entry)) : [];
  }

  /** What is ignored of the Service's objects. */
  objects(service: ServiceKey): readonly Verdict[] {
    const { reports, state } = this.sources;
    const isServed = state.service(service) !== undefined;
    return reports
      .of(service, state.sliceNames(service))
      .map(({ object, text, usable }) =>
        usable
          ? sentences.ignoredPart(object, text, text.startsWith(OUR_ANNOTATIONS))
          : sentences.invalidObject(object, text, isServed),
      );
  }

  private settleLater(): void {
    this.timer = undefined;
    if (this.isStopped) return;
    this.settle(AT_ONCE, RECENT);
    if (this.touched.size > 0) this.timer = this.clock.after(1, () => this.settleLater());
  }

  /** Judges a part of the Services that have changed. */
  private settle(most = Infinity, age = FRESH): void {
    this.touchUnresponsive(age);
    this.touchUnread();
    if (this.touched.size === 0) return;
    let left = most;
    for (const service of this.touched) {
      if (left-- === 0) return;
      this.touched.delete(service);
      this.keep(service, this.isPlain(service) ? undefined : this.judge(service, false));
    }
  }

  /** The source does not announce what it rejects. */
  private touchUnread(): void {
    const { unreadServices } = this.sources.reports;
    if (unreadServices.join() === this.unread.join()) return;
    for (const service of [...this.unread, ...unreadServices]) this.touched.add(service);
    this.unread = unreadServices;
  }

  private keep(service: ServiceKey, verdict: Verdict | undefined): void {
    const former = this.problemOf.get(service);
    if (!verdict || verdict.state === 'ok' || verdict.cause === undefined) {
      if (!former) return;
      this.problemOf.delete(service);
      this.notProxied.delete(service);
      this.sizes[former.state]--;
      this.changed(
        { service, verdict: verdict ?? this.of(service) ?? sentences.notFound(service, []) },
        former,
      );
      return;
    }
    const { state, cause } = verdict;
    if (this.sources.state.service(service)) this.notProxied.delete(service);
    else this.notProxied.add(service);
    if (former?.state === state && former.cause === cause) return;
    if (former) this.sizes[former.state]--;
    this.sizes[state]++;
    this.problemOf.set(service, { state, cause });
    this.changed({ service, verdict }, former);
  }

  /** Whether nothing can be wrong with it: a quick test that nearly all Services pass. */
  private isPlain(service: ServiceKey): boolean {
    const { state, statuses, reports } = this.sources;
    const served = state.service(service);
    if (!served || this.failedRemovals().has(service)) return false;
    let ports = 0;
    for (const { table, family } of this.sources.loops())
      for (const entry of table.entriesOf(service)) {
        const { endpoints, requested, frontends } = entry;
        const isPlain =
          requested === undefined &&
          endpoints.ejected === undefined &&
          endpoints.reachable.some(({ ready }) => ready) &&
          frontends.every(({ outcome }) => outcome === 'forward') &&
          statuses.get(family, entry.key)?.state === 'programmed' &&
          !this.unresponsive.has(familyPortKey(entry)) &&
          !this.sources.obstacles?.(entry).length;
        if (!isPlain) return false;
        ports++;
      }
    return (
      ports >= served.ports.length && ports > 0 && reports.of(service, state.sliceNames(service)).length === 0
    );
  }

  private judge(service: ServiceKey, isNow: boolean): Verdict | undefined {
    const { state } = this.sources;
    const objects = this.objects(service);
    const served = state.service(service);
    if (!served) {
      const kind = state.notProxiedKind(service);
      if (kind === undefined) return this.invalidService(service);
      return worstOf([sentences.notProxied(kind), ...objects]);
    }
    const removal = this.failedRemovals().get(service);
    const loops = this.sources.loops();
    const all = [
      ...(removal === undefined ? [] : [sentences.removalFailed(removal)]),
      ...objects,
      ...loops.flatMap((loop) => this.absence(loop, service, served) ?? []),
      ...loops.flatMap(({ table }) =>
        table.entriesOf(service).flatMap((entry) => judgePort(state, this.portFacts(entry))),
      ),
      ...this.familiesNotServed(served, loops),
      ...(isNow && loops.some((loop) => loop.isWaiting(service)) ? [sentences.pending()] : []),
    ];
    return worstOf(all) ?? sentences.healthy(0, 0);
  }

  private invalidService(service: ServiceKey): Verdict | undefined {
    const own = this.sources.reports
      .of(service, [])
      .find(({ object, usable }) => !usable && object === `Service ${service}`);
    return own && sentences.invalidObject(own.object, own.text, false);
  }

  /** Why a Service that is to be served has no service port in a family. */
  absence(
    { family, table, unreadObjects }: JudgedLoop,
    service: ServiceKey,
    served: Service,
  ): Verdict | undefined {
    if (served.clusterIPs[family] === undefined || served.ports.length === 0 || table.has(service))
      return undefined;
    return unreadObjects.length === 0 || this.sources.state.hasSlices(service, family)
      ? sentences.pending()
      : sentences.unreadObjects(unreadObjects);
  }

  private familiesNotServed({ clusterIPs }: Service, loops: readonly JudgedLoop[]): readonly Verdict[] {
    const isServed = loops.some(({ family }) => clusterIPs[family] !== undefined);
    return isServed || loops.length === 0
      ? []
      : [
          sentences.familyNotServed(
            Object.keys(clusterIPs),
            loops.map(({ family }) => family),
          ),
        ];
  }

  private portFacts(entry: ForwardingEntry, obstacles = this.sources.obstacles?.(entry) ?? []) {
    const { state, statuses, localhost } = this.sources;
    const { name, family, key } = entry;
    const service = serviceKey(name.namespace, name.name);
    const listed = state.endpointsByPort(service, family)({ port: name.port, protocol: name.protocol });
    const status = statuses.get(family, key);
    return {
      entry,
      endpoints: weighed(listed, state.service(service)),
      status,
      unresponsive: this.unresponsive.get(familyPortKey(entry)),
      obstacles,
      localhost: localhost?.(family, key),
      ownerOf: (conflict: ConflictingFrontend) => this.ownerOf(entry, conflict),
    };
  }

  private ownerOf(
    { family, name }: ForwardingEntry,
    { owner, portName = '' }: ConflictingFrontend,
  ): ForwardingEntry | undefined {
    const table = this.sources.loops().find((loop) => loop.family === family)?.table;
    return table
      ?.entriesOf(owner)
      .find((entry) => entry.name.port === portName && entry.name.protocol === name.protocol);
  }

  private failedRemovals(): ReadonlyMap<ServiceKey, string> {
    return (this.removals ??= new Map(
      this.sources
        .loops()
        .flatMap(({ family, table }) =>
          this.sources.statuses
            .failures(family)
            .flatMap(({ servicePort: port, reason }) =>
              table.entry(port) ? [] : [[serviceOf(port), reason]],
            ),
        ),
    ));
  }

  /** The endpoints of a service port that do not answer, by `ip:port`; undefined: none. */
  unresponsiveOf(port: FamilyPortKey): UnansweredConnections | undefined {
    this.touchUnresponsive(FRESH);
    return this.unresponsive.get(port);
  }

  /** What is counted changes without any change of the cluster. */
  private touchUnresponsive(age: number): void {
    const now = this.clock.steady();
    if (!this.sources.answers || now < this.unresponsiveAt + age) return;
    this.unresponsiveAt = now;
    const former = this.unresponsive;
    this.unresponsive = this.sources.answers.unresponsive();
    for (const [port, places] of this.unresponsive)
      if (former.get(port)?.size !== places.size) this.touched.add(serviceOfPort(port));
    for (const port of former.keys()) if (!this.unresponsive.has(port)) this.touched.add(serviceOfPort(port));
  }

  private namesakes(service: ServiceKey): readonly ServiceKey[] {
    const suffix = service.slice(service.indexOf('/'));
    return [...this.sources.state.serviceKeys()].filter((key) => key.endsWith(suffix)).sort();
  }
}

function serviceOfPort(port: FamilyPortKey): ServiceKey {
  return serviceOf(port.slice(port.indexOf(' ') + 1));
}
