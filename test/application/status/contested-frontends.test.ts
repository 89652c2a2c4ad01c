import { ServicePortOutcomes } from '../../../src/application/sync/service-port-outcomes.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { Service } from '../../../src/domain/model/service.js';
import { serviceKey } from '../../../src/domain/model/service-port-name.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { FORWARDING, service, slice, sliceEndpoint } from '../../support/samples.js';
import {
  iptablesSubject,
  ipvsSubject,
  nftablesSubject,
  userspaceSubject,
} from '../../testing/contract/subjects.js';

const SHARED = '192.0.2.80';
const node = sampleNode('IPv4');
const external = { externalIPs: [parseAddress(SHARED)!] };
const balanced = { loadBalancerIPs: [parseAddress(SHARED)!] };

/** Programs Services in a mode, one change after another, and compares the rules with those of a fresh start each time. */
class Programmed<Place> {
  readonly statuses = new ServiceStatuses();
  private readonly state = new ClusterState();
  private readonly table = new ForwardingTable();
  private readonly outcomes = new ServicePortOutcomes(
    'IPv4',
    this.table,
    this.statuses,
    new FakeClock(1),
    new MemoryLogger(),
  );

  private constructor(
    private readonly subject: BackendSubject<Place>,
    private readonly place: Place,
    private readonly backend: Awaited<ReturnType<BackendSubject<Place>['open']>>,
  ) {}

  static async start<Place>(subject: BackendSubject<Place>): Promise<Programmed<Place>> {
    const place = await subject.makePlace();
    const backend = await subject.open(place);
    await backend.start([], node);
    return new Programmed(subject, place, backend);
  }

  async put(name: string, parts: Partial<Service>, endpoints = 1): Promise<void> {
    this.state.applyService(
      service({ name, clusterIPs: { IPv4: `10.96.0.${name.charCodeAt(0)}` }, ...parts }),
    );
    const all = Array.from({ length: endpoints }, () => sliceEndpoint(`10.1.1.${name.charCodeAt(0)}`));
    this.state.applySlice(slice(name, all, { service: name }));
    await this.program(name);
  }

  async remove(name: string): Promise<void> {
    this.state.removeService(serviceKey('shop', name));
    await this.program(name);
  }

  /** The Service that owns the shared address, by the statuses of the others; undefined if none has lost it. */
  owner(): string | undefined {
    const held = ['a', 'b', 'c'].flatMap((name) => {
      const status = this.statuses.get('IPv4', `shop/${name}/tcp/`);
      return status?.state === 'degraded' ? (status.conflicts ?? []) : [];
    });
    const [owner, ...others] = new Set(held.map(({ owner: holder }) => holder));
    expect(others).toEqual([]);
    return owner;
  }

  snapshot(): unknown {
    return this.subject.snapshot(this.place);
  }

  close(): Promise<void> | undefined {
    return this.backend.close?.();
  }

  private async program(name: string): Promise<void> {
    const changes = this.table.update(this.state, [serviceKey('shop', name)], FORWARDING);
    const result = await this.backend.apply(changes, node);
    expect(result).toMatchObject({ failed: [] });
    this.outcomes.record(changes, result);
    expect(await this.subject.snapshot(this.place)).toEqual(await this.fresh());
  }

  private async fresh(): Promise<unknown> {
    const place = await this.subject.makePlace();
    const backend = await this.subject.open(place);
    const entries = [...ForwardingTable.of(this.state, FORWARDING).entries()];
    await backend.start(entries, node);
    await backend.close?.();
    return this.subject.snapshot(place);
  }
}

describe.each([
  ['nftables', nftablesSubject('IPv4')],
  ['iptables', iptablesSubject('IPv4')],
  ['ipvs', ipvsSubject('IPv4')],
  ['userspace', userspaceSubject('IPv4')],
] as const)('in %s mode an address that several Services request', (_, subject) => {
  let programmed: Programmed<unknown>;
  beforeEach(async () => {
    programmed = await Programmed.start(subject as BackendSubject<unknown>);
  });
  afterEach(() => programmed.close());

  it('belongs to the one whose cluster IP it is, which may come last and have no endpoint', async () => {
    await programmed.put('a', { ...external, createdAt: 1 });
    await programmed.put('b', { ...balanced, createdAt: 2 });
    expect(programmed.owner()).toBe('shop/b');
    await programmed.put('c', { clusterIPs: { IPv4: SHARED }, createdAt: 3 }, 0);
    expect(programmed.owner()).toBe('shop/c');
    await programmed.remove('c');
    expect(programmed.owner()).toBe('shop/b');
  });

  it('goes to the next when its owner leaves or loses its endpoints, and comes back with them', async () => {
    await programmed.put('c', { ...external, createdAt: 1 });
    await programmed.put('a', { ...external, createdAt: 2 });
    await programmed.put('b', { ...external, createdAt: 3 });
    expect(programmed.owner()).toBe('shop/c');
    await programmed.put('c', { ...external, createdAt: 1 }, 0);
    expect(programmed.owner()).toBe('shop/a');
    await programmed.put('c', { ...external, createdAt: 1 });
    expect(programmed.owner()).toBe('shop/c');
    await programmed.remove('c');
    expect(programmed.owner()).toBe('shop/a');
    await programmed.remove('b');
    expect(programmed.owner()).toBeUndefined();
  });

  it('that is an external IP and a load-balancer IP of one Service has the rules of the latter, so that source ranges hold', async () => {
    const restricted = {
      ...balanced,
      type: 'LoadBalancer',
      sourceRanges: [parseCidr('198.51.100.0/24')!],
    } as const;
    const rules = async (parts: Partial<Service>): Promise<unknown> => {
      const one = await Programmed.start(subject as BackendSubject<unknown>);
      await one.put('a', parts);
      const snapshot = await one.snapshot();
      await one.close();
      return snapshot;
    };
    expect(await rules({ ...restricted, ...external })).toEqual(await rules(restricted));
    // Of two Services, too.
    await programmed.put('a', { ...external, createdAt: 1 });
    await programmed.put('b', { ...restricted, createdAt: 2 });
    expect(programmed.owner()).toBe('shop/b');
  });
});
