import {
  DesiredFlows,
  flowsWithFallback,
  SuspectFlows,
  servicePortFlows,
} from '../../../src/domain/conntrack/desired-flows.js';
import type { ClientFlow } from '../../../src/domain/conntrack/flow.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { FORWARDING, endpoint, service } from '../../support/samples.js';

const NODE = '192.0.2.11';
const CLUSTER_IP = '10.96.0.10';
const EXTERNAL_IP = '203.0.113.5';
const LOAD_BALANCER_IP = '203.0.113.6';
const CLIENT = '198.51.100.7';
const HERE = endpoint('10.244.1.5', { isLocal: true });
const THERE = endpoint('10.244.2.5');

/** A Service of UDP that changes, and what becomes of its flows. */
class World {
  private readonly desired = new DesiredFlows();
  private suspects = new SuspectFlows();

  constructor(
    private readonly flowsOf = servicePortFlows,
    private readonly endpoints = [HERE, THERE],
  ) {}

  change(more: Partial<Service>): this {
    const ports = [{ name: '', protocol: 'UDP', port: 53, nodePort: 30053 }] as const;
    const dns = service({
      ...{ clusterIPs: { IPv4: CLUSTER_IP }, ports },
      ...{
        externalIPs: [{ family: 'IPv4', text: EXTERNAL_IP }],
        loadBalancerIPs: [{ family: 'IPv4', text: LOAD_BALANCER_IP }],
      },
      ...more,
    });
    const [entry] = forwardService(dns, () => this.endpoints, FORWARDING);
    this.suspects = new SuspectFlows();
    this.desired.update(entry!.key, this.flowsOf(entry!), this.suspects);
    return this;
  }

  /** Where flows are looked for. */
  get places() {
    return this.suspects.places();
  }

  verdict(destination: string, to: typeof HERE, more: Partial<ClientFlow> = {}): string | undefined {
    const isOwn = (address: string) => address === NODE;
    return this.desired.judge(
      {
        ...{ destination, destinationPort: destination === NODE ? 30053 : 53 },
        ...{ replySource: `${to.address}:${to.port}`, source: CLIENT, isMasqueraded: false },
        ...more,
      },
      isOwn,
      this.suspects,
      isOwn,
    );
  }
}

const masqueraded = { isMasqueraded: true };

describe.each([EXTERNAL_IP, LOAD_BALANCER_IP, NODE])('flows through %s', (frontend) => {
  it('that are masqueraded end when the external policy becomes Local, on every node', () => {
    const world = new World().change({}).change({ externalPolicyLocal: true });
    expect(world.places).not.toEqual([]);
    expect(world.verdict(frontend, HERE, masqueraded)).toBe('policy changed');
    expect(world.verdict(frontend, THERE, masqueraded)).toBe('policy changed');
  });

  it('that the policy Local makes stay then: those of this node, of pods that it short-circuits, and to themselves', () => {
    const world = new World().change({}).change({ externalPolicyLocal: true });
    expect(world.verdict(frontend, HERE)).toBeUndefined();
    expect(world.verdict(frontend, THERE, { source: '10.244.1.9' })).toBeUndefined();
    expect(world.verdict(frontend, THERE, { source: NODE, ...masqueraded })).toBeUndefined();
    expect(world.verdict(frontend, HERE, { source: HERE.address, ...masqueraded })).toBeUndefined();
  });

  it('that show their client end when the external policy becomes Cluster', () => {
    const world = new World().change({ externalPolicyLocal: true }).change({});
    expect(world.verdict(frontend, HERE)).toBe('policy changed');
    expect(world.verdict(frontend, HERE, masqueraded)).toBeUndefined();
    expect(world.verdict(frontend, HERE, { source: NODE })).toBeUndefined();
  });

  it('stay while the external policy does, whoever masquerades them', () => {
    const world = new World().change({ externalPolicyLocal: true });
    world.change({ externalPolicyLocal: true, affinitySeconds: 60 });
    expect(world.places).toEqual([]);
    expect(world.verdict(frontend, THERE, masqueraded)).toBeUndefined();
  });
});

it('flows through the cluster IP to other nodes end when the internal policy becomes Local', () => {
  const world = new World().change({}).change({ internalPolicyLocal: true });
  expect(world.verdict(CLUSTER_IP, THERE)).toBe('policy changed');
  expect(world.verdict(CLUSTER_IP, HERE)).toBeUndefined();
  expect(world.verdict(EXTERNAL_IP, THERE, masqueraded)).toBeUndefined();
});

it('flows through the cluster IP to other nodes stay in IPVS mode, unless an endpoint is here', () => {
  const local = { internalPolicyLocal: true };
  const verdict = (endpoints: readonly (typeof HERE)[]) =>
    new World(flowsWithFallback, [...endpoints]).change({}).change(local).verdict(CLUSTER_IP, THERE);
  expect(verdict([THERE])).toBeUndefined();
  expect(verdict([HERE, THERE])).toBe('policy changed');
});

describe('source ranges', () => {
  const sourceRanges = (...ranges: readonly string[]) => ({
    sourceRanges: ranges.map((range) => parseCidr(range)!),
  });

  it('end the flows of clients that they exclude, through load-balancer IPs alone', () => {
    const world = new World().change({}).change(sourceRanges('198.51.100.0/30', '2001:db8::/32'));
    expect(world.verdict(LOAD_BALANCER_IP, HERE, masqueraded)).toBe('policy changed');
    expect(world.verdict(LOAD_BALANCER_IP, HERE, { ...masqueraded, source: '198.51.100.2' })).toBeUndefined();
    expect(world.verdict(EXTERNAL_IP, HERE, masqueraded)).toBeUndefined();
    expect(world.verdict(NODE, HERE, masqueraded)).toBeUndefined();
    expect(world.verdict(CLUSTER_IP, HERE)).toBeUndefined();
  });

  it('are looked for again when they change, and when an address becomes a load-balancer IP', () => {
    const world = new World().change(sourceRanges('198.51.100.0/24'));
    expect(world.change(sourceRanges('198.51.100.0/24')).places).toEqual([]);
    expect(world.change(sourceRanges('198.51.100.0/25')).places).not.toEqual([]);
    world.change({
      ...sourceRanges('198.51.100.0/25'),
      loadBalancerIPs: [{ family: 'IPv4', text: EXTERNAL_IP }],
    });
    expect(world.places).not.toEqual([]);
    expect(world.verdict(EXTERNAL_IP, HERE, { source: '203.0.113.200' })).toBe('policy changed');
  });

  it('that cover the node let the load-balancer IPs themselves be the source', () => {
    const world = new World().change(sourceRanges(`${FORWARDING.nodeIP}/32`));
    expect(world.verdict(LOAD_BALANCER_IP, HERE, { source: LOAD_BALANCER_IP })).toBeUndefined();
    expect(world.verdict(LOAD_BALANCER_IP, HERE, { source: EXTERNAL_IP })).toBe('policy changed');
  });
});
