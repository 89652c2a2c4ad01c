import { Bench, NODE_NAME } from './bench.js';

const EVERYTHING = { services: [], everyService: true, node: true, triggerTimes: [] };
let bench: Bench;

function apply(
  parts: {
    name?: string;
    zone?: string;
    ip?: string;
    podCIDR?: string;
    draining?: boolean;
    noise?: string;
  } = {},
) {
  const {
    name = NODE_NAME,
    zone = 'a',
    ip = '192.0.2.4',
    podCIDR = '10.244.1.0/24',
    draining = false,
    noise = '',
  } = parts;
  bench.events.applied('Node', {
    metadata: { name, labels: { 'topology.kubernetes.io/zone': zone, noise } },
    spec: { podCIDRs: [podCIDR], taints: draining ? [{ key: 'ToBeDeletedByClusterAutoscaler' }] : [] },
    status: { addresses: [{ type: 'InternalIP', address: ip }] },
  });
}

beforeEach(() => {
  bench = new Bench();
});

describe('NodeHandler', () => {
  it("reads this node's Node object, and no other", () => {
    apply({ name: 'n2' });
    expect([bench.state.node, bench.heard(), bench.nodes]).toEqual([undefined, [undefined, undefined], []]);
    apply();
    expect(bench.state.node?.name).toBe(NODE_NAME);
    expect(bench.heard()).toEqual([EVERYTHING, EVERYTHING]);
    expect(bench.nodes).toHaveLength(1);
  });

  it.each([{ zone: 'b' }, { ip: '192.0.2.5' }, { podCIDR: '10.244.2.0/24' }])(
    'checks everything again after %j',
    (parts) => {
      apply();
      bench.heard();
      apply(parts);
      expect(bench.heard()).toEqual([EVERYTHING, EVERYTHING]);
      expect(bench.nodes).toHaveLength(2);
    },
  );

  it('does nothing when nothing that counts changed', () => {
    apply();
    bench.heard();
    apply({ noise: 'heartbeat' });
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect(bench.nodes).toHaveLength(1);
  });

  it('only affects health when the Node is draining, and when it stays after all', () => {
    apply();
    bench.heard();
    apply({ draining: true });
    apply({ draining: false });
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect(bench.nodes.map(({ draining }) => draining)).toEqual([false, true, false]);
    apply({ draining: true, zone: 'b' });
    expect(bench.heard()).toEqual([EVERYTHING, EVERYTHING]);
  });

  it('keeps the last form of a Node that becomes invalid, or is deleted', () => {
    apply();
    bench.events.applied('Node', { metadata: { name: NODE_NAME, labels: 'x' } });
    expect(bench.logger.at('error')).toHaveLength(1);
    bench.heard();
    bench.events.deleted('Node', { namespace: '', name: NODE_NAME });
    expect(bench.logger.at('warn')).toMatchObject([
      { message: expect.stringContaining('was deleted; keeping its last version') as string },
    ]);
    bench.events.deleted('Node', { namespace: '', name: 'n2' });
    expect(bench.logger.at('warn')).toHaveLength(1);
    expect([bench.state.node?.zone, bench.heard()]).toEqual(['a', [undefined, undefined]]);
  });

  it('keeps addresses and podCIDRs of a Node that is registered again, until it has some', () => {
    apply();
    bench.heard();
    const registered = { metadata: { name: NODE_NAME, labels: { 'topology.kubernetes.io/zone': 'a' } } };
    bench.events.applied('Node', registered);
    bench.events.applied('Node', registered);
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect(bench.state.node).toMatchObject({ ips: [{ text: '192.0.2.4' }], podCIDRs: ['10.244.1.0/24'] });
    expect(bench.logger.at('warn')).toMatchObject([
      { facts: { problems: [expect.stringContaining('addresses'), expect.stringContaining('podCIDRs')] } },
    ]);
    apply({ ip: '192.0.2.5' });
    expect(bench.heard()).toEqual([EVERYTHING, EVERYTHING]);
    expect(bench.state.node?.ips.map(({ text }) => text)).toEqual(['192.0.2.5']);
  });

  it('does not complain about a Node that never had addresses or podCIDRs', () => {
    for (const noise of ['first', 'second'])
      bench.events.applied('Node', { metadata: { name: NODE_NAME, labels: { noise } } });
    expect(bench.logger.at('warn')).toEqual([]);
  });

  it('does not complain about other Nodes', () => {
    bench.events.applied('Node', { metadata: { name: 'n2', labels: 'x' } });
    expect([bench.logger.lines, bench.reports.rejected]).toEqual([[], []]);
  });
});

describe('OnServiceCIDR', () => {
  const NODE = { services: [], everyService: false, node: true, triggerTimes: [] };
  const cidr = (cidrs: unknown, name = 'kubernetes') =>
    bench.events.applied('ServiceCIDR', { metadata: { name }, spec: { cidrs } });

  it('changes the rules of the node', () => {
    cidr(['10.96.0.0/16']);
    expect(bench.heard()).toEqual([NODE, NODE]);
    cidr(['10.96.0.0/16']);
    expect(bench.heard()).toEqual([undefined, undefined]);
    cidr(['10.96.0.0/16', 'fd00::/112']);
    expect(bench.heard()).toEqual([NODE, NODE]);
    bench.events.deleted('ServiceCIDR', { namespace: '', name: 'kubernetes' });
    expect(bench.heard()).toEqual([NODE, NODE]);
    bench.events.deleted('ServiceCIDR', { namespace: '', name: 'kubernetes' });
    expect(bench.heard()).toEqual([undefined, undefined]);
  });

  it('keeps the last valid form', () => {
    cidr(['10.96.0.0/16']);
    bench.heard();
    cidr(['nonsense']);
    expect(bench.heard()).toEqual([undefined, undefined]);
    expect([...bench.state.serviceCidrObjects()]).toHaveLength(1);
    expect(bench.reports.rejected).toEqual([expect.stringContaining('ServiceCIDR kubernetes')]);
    bench.events.deleted('ServiceCIDR', { namespace: '', name: 'kubernetes' });
    expect(bench.reports.rejected).toEqual([]);
  });
});
