import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { combineObservers, type SyncObserver } from '../../../src/application/ports/sync-observer.js';
import { SyncLoop, type SyncPeriods } from '../../../src/application/sync/sync-loop.js';
import { Sync, type FamilyContext } from '../../../src/application/use-cases/sync.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import type { Service } from '../../../src/domain/model/service.js';
import { FORWARDING, service, slice, sliceEndpoint } from '../../support/samples.js';
import { RecordingObserver } from '../../support/recording-observer.js';

export const START = 1_000_000;

const CONTEXT: FamilyContext = {
  forwarding: FORWARDING,
  network: {
    family: 'IPv4',
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    serviceCIDRs: [],
  },
};

/** A sync loop over fakes. */
export class Bench {
  readonly clock = new FakeClock(START);
  readonly logger = new MemoryLogger();
  readonly backend = new RecordingBackend();
  readonly state = new ClusterState();
  readonly statuses = new ServiceStatuses();
  readonly observer = new RecordingObserver();
  /** Whether the node was read again, for each request of the context. */
  readonly refreshes: boolean[] = [];
  context = CONTEXT;
  readonly sync: Sync;
  readonly loop: SyncLoop;

  /** Services that were there at some time. */
  private readonly known = new Set<string>();

  /** What the source cannot read. */
  readonly unread: string[] = [];
  /** What it delivered and is not valid. */
  readonly invalid: string[] = [];

  constructor(periods: Partial<SyncPeriods> = {}, more: Partial<SyncObserver> = {}) {
    const contexts = { of: (_: string, refresh: boolean) => (this.refreshes.push(refresh), this.context) };
    this.sync = new Sync(
      this.state,
      this.backend,
      contexts,
      this.statuses,
      this.clock,
      this.logger,
      undefined,
      () => this.unread,
      undefined,
      () => this.invalid,
    );
    this.loop = new SyncLoop(
      this.sync,
      this.backend,
      { syncPeriod: 30_000, minSyncPeriod: undefined, ...periods },
      combineObservers([this.observer, more]),
      this.clock,
      this.logger,
    );
  }

  /** Lists what the state holds and runs the first sync. */
  async begin(...names: string[]): Promise<this> {
    for (const name of names) this.put(name);
    this.loop.initialized();
    await this.settle();
    return this;
  }

  /** Adds or changes a Service without telling the loop. The first has the cluster IP 10.96.7.1, the next 10.96.7.2, … */
  put(name: string, parts: Partial<Service> = {}): void {
    this.known.add(name);
    const number = [...this.known].indexOf(name) + 1;
    this.state.applyService(service({ name, clusterIPs: { IPv4: `10.96.7.${number}` }, ...parts }));
  }

  /** The Service has these endpoints, as by an event. */
  setEndpoints(name: string, ...addresses: readonly string[]): void {
    const endpoints = addresses.map((address) => sliceEndpoint(address));
    this.state.applySlice(slice(`${name}-1`, endpoints, { service: name }));
    this.loop.pending.serviceChanged(`shop/${name}`);
    this.loop.changed();
  }

  /** The node is in another zone. */
  moveTo(zone: string): void {
    const { forwarding, network } = this.context;
    this.context = {
      forwarding: { ...forwarding, topology: { ...forwarding.topology, zone } },
      network: { ...network },
    };
    this.loop.pending.everyServiceChanged();
    this.loop.changed();
  }

  /** Changes a Service as an event does. */
  change(name: string, parts: Partial<Service> = { affinitySeconds: ++this.edits }): void {
    this.put(name, parts);
    this.loop.pending.serviceChanged(`shop/${name}`);
    this.loop.changed();
  }

  remove(name: string): void {
    this.state.removeService(`shop/${name}`);
    this.loop.pending.serviceChanged(`shop/${name}`);
    this.loop.changed();
  }

  /** Lets everything happen that needs no time. */
  settle(): Promise<void> {
    return this.clock.advanceAsync(0);
  }

  /** The backend's calls since the last time: `apply a b`. */
  calls(): readonly string[] {
    return this.backend
      .take()
      .map(({ method, keys }) => [method, ...keys.map((key) => key.split('/')[1])].join(' '));
  }

  /** Those of them that program. */
  syncs(): readonly string[] {
    return this.calls().filter((call) => /^(start|apply)/.test(call));
  }

  private edits = 0;
}

export function keyOf(name: string): string {
  return `shop/${name}/tcp/`;
}
