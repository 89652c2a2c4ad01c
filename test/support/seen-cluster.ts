import { ExplainAddress } from '../../src/diagnostics/application/explain/explain-address.js';
import { ExplainPort } from '../../src/diagnostics/application/explain/explain-port.js';
import { Explain, type ExplainSources } from '../../src/diagnostics/application/explain/explain.js';
import { ServiceVerdicts } from '../../src/application/status/service-verdicts.js';
import type { LocalhostLookup } from '../../src/application/status/port-status.js';
import type { ServiceLookup } from '../../src/application/ports/cluster-source.js';
import { ListServices } from '../../src/diagnostics/application/status/list-services.js';
import { ServiceStatuses } from '../../src/application/status/service-statuses.js';
import { SyncHistory } from '../../src/application/status/sync-history.js';
import { ServicePortOutcomes } from '../../src/application/sync/service-port-outcomes.js';
import type { MemoryFlowEvents } from './traffic/memory-flow-events.js';
import {
  OpenConnections,
  TerminatingEndpoints,
} from '../../src/application/traffic/terminating-endpoints.js';
import { ClusterEvents } from '../../src/application/use-cases/cluster-events.js';
import { FamilyLoops } from '../../src/application/sync/sync-loop.js';
import { ObjectReports } from '../../src/application/use-cases/object-reports.js';
import { ForwardingTable } from '../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../src/domain/forwarding/node-network.js';
import { IP_FAMILIES, type IpFamily } from '../../src/domain/net/ip-family.js';
import type { FamilyPortKey } from '../../src/domain/traffic/service-frontends.js';
import { ClusterState } from '../../src/domain/state/cluster-state.js';
import { PendingChanges } from '../../src/domain/state/pending-changes.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { RecordingObserver } from './recording-observer.js';

const NODE_IPS = { IPv4: '192.0.2.4', IPv6: '2001:db8::4' };
const SERVICE_RANGES = { IPv4: ['10.96.0.0/12'], IPv6: ['fd00:96::/108'] };

/** What it is seen by. */
interface SeenFrom {
  readonly obstacles?: ExplainSources['obstacles'];
  readonly lookup?: ServiceLookup;
  readonly mode?: string;
  readonly node?: Partial<NodeNetwork>;
  /** Tracked connections to endpoints that terminate; missing: nobody counts them. */
  readonly flows?: MemoryFlowEvents;
}

/** What is seen of objects of a cluster on node n1 in zone a, after a sync that succeeded. */
export class SeenCluster {
  readonly state = new ClusterState();
  readonly statuses = new ServiceStatuses(undefined, undefined, (service) => this.verdicts.touch(service));
  readonly terminating = new TerminatingEndpoints(new FakeClock(0));
  readonly unread: string[] = [];
  readonly waiting = new Set<string>();
  /** Endpoints that step aside, as `ip:port`, of Services that have their silent endpoints do so. */
  readonly aside = new Set<string>();
  /** Where the proxy itself listens, by family and service port. */
  readonly localhost = new Map<string, string>();
  /** Endpoints that do not answer, with the number of their connections without an answer, by service port. */
  readonly unresponsive = new Map<FamilyPortKey, ReadonlyMap<string, number>>();
  /** Open connections to endpoints, by `ip:port`. */
  readonly openConnections = new Map<string, number>();
  /** How often the connections were read, and why they cannot be. */
  readonly answers = {
    reads: 0,
    problem: undefined as string | undefined,
    read: (): Promise<void> => Promise.resolve(void this.answers.reads++),
    unresponsive: () => this.unresponsive,
    open: () => (place: string) => this.openConnections.get(place) ?? 0,
    unanswered: (port: FamilyPortKey): ReadonlyMap<string, number> | undefined =>
      this.answers.problem === undefined
        ? (this.unresponsive.get(port) ?? new Map<string, number>())
        : undefined,
  };
  isListed = true;
  readonly loops = IP_FAMILIES.map((family) => ({
    family,
    table: new ForwardingTable({ ejected: () => this.aside }),
    pending: new PendingChanges(),
    unreadObjects: this.unread,
    isWaiting: (key: string) => this.waiting.has(key),
  }));
  readonly verdicts: ServiceVerdicts;
  readonly explain: Explain;
  readonly addresses: ExplainAddress;
  readonly list: ListServices;
  private readonly events: ClusterEvents;

  constructor({ lookup, mode = 'nftables', node = {}, obstacles, flows }: SeenFrom = {}) {
    const { state, statuses, loops } = this;
    const reports = new ObjectReports(new MemoryLogger(), new FakeClock(), () => this.unread);
    const history = new SyncHistory(new FakeClock());
    this.events = new ClusterEvents(
      {
        state,
        loops: new FamilyLoops([]),
        reports,
        observer: new RecordingObserver(),
        logger: new MemoryLogger(),
        nodeName: 'n1',
        startTime: 0,
        terminating: this.terminating,
        serviceFrontendsLimit: 0,
        nodeChanged: () => undefined,
      },
      { needed: [], wanted: [] },
      new FakeClock(),
      () => undefined,
    );
    const localhost: LocalhostLookup = (family, key) => this.localhost.get(`${family} ${key}`);
    this.verdicts = new ServiceVerdicts(
      { state, loops: () => loops, statuses, reports, localhost, lookup, answers: this.answers },
      new FakeClock(),
    );
    const { verdicts } = this;
    const connections = flows && new OpenConnections(flows, new FakeClock());
    this.explain = new Explain({
      ...(connections && {
        terminating: {
          since: (address) => this.terminating.since(address),
          to: (...asked) => connections.to(...asked),
        },
      }),
      state,
      loops,
      verdicts,
      history,
      healthChecks: [],
      obstacles,
      answers: this.answers,
      waitingSeconds: () => undefined,
    });
    const isListed = (): boolean => this.isListed;
    this.addresses = new ExplainAddress(new ExplainPort(verdicts), state, loops, {
      mode,
      isListed,
      network: (family) => ({
        ...network(family),
        ...(this.localhost.size > 0 && { loopbackNodePorts: 'relayed' }),
        ...node,
      }),
      localAddresses: () => [...Object.values(NODE_IPS), '127.0.0.1', '::1'],
    });
    this.list = new ListServices(state, loops, statuses, verdicts, isListed, localhost, this.answers);
    state.applyNode({ name: 'n1', zone: 'a', ips: [], podCIDRs: [], draining: false });
  }

  /** Delivers raw objects, and programs them. */
  deliver(services: readonly object[], slices: readonly object[] = []): this {
    for (const raw of services) this.events.applied('Service', raw);
    for (const raw of slices) this.events.applied('EndpointSlice', raw);
    for (const { family, table } of this.loops) {
      table.update(this.state, this.state.serviceKeys(), {
        family,
        topology: { nodeName: 'n1', zone: 'a', nodeHints: true },
        nodeIP: NODE_IPS[family],
        externalIPsAllowed: true,
      });
      const changes = Array.from(table.entries(), (entry) => ({ key: entry.key, entry }));
      new ServicePortOutcomes(family, table, this.statuses, new FakeClock(1), new MemoryLogger()).record(
        changes,
        { written: 0, failed: [] },
      );
    }
    return this;
  }
}

function network(family: IpFamily): NodeNetwork {
  return {
    family,
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    serviceCIDRs: SERVICE_RANGES[family],
  };
}
