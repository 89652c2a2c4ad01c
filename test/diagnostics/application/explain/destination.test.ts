import { ejectedAt, rejectionOf } from '../../../../src/diagnostics/application/explain/explain-address.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { timeText } from '../../../../src/domain/model/text.js';

const to = (destination: string, destinationPort: number): Packet => ({
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '203.0.113.5',
  destination,
  protocol: 'TCP',
  destinationPort,
});
const elsewhere = rawSlice({ endpoints: [{ addresses: ['10.1.1.1'], nodeName: 'n2' }] });
const balanced = {
  type: 'LoadBalancer',
  ports: [{ port: 80, nodePort: 30080 }],
  loadBalancerSourceRanges: ['198.51.100.0/24', '203.0.113.0/30'],
};
const status = { loadBalancer: { ingress: [{ ip: '192.0.2.99' }] } };
const other = rawService({}, { metadata: { namespace: 'shop', name: 'other' } });

describe('why packets are rejected or dropped: what explain says of the address', () => {
  it.each([
    [
      'no slice',
      [rawService()],
      [],
      to('10.96.7.1', 80),
      /^it has no selector, and no EndpointSlice has the label/,
    ],
    [
      'no endpoint here, policy Local',
      [rawService({ internalTrafficPolicy: 'Local' })],
      [elsewhere],
      to('10.96.7.1', 80),
      /^internalTrafficPolicy is Local and no endpoint on the node is ready/,
    ],
    [
      'a node port without an endpoint here',
      [rawService({ ...balanced, externalTrafficPolicy: 'Local' })],
      [elsewhere],
      to('192.0.2.4', 30080),
      /^externalTrafficPolicy is Local and no endpoint on the node is ready/,
    ],
    [
      'a source that the ranges leave out',
      [rawService(balanced, { status })],
      [rawSlice()],
      to('192.0.2.99', 80),
      /^load-balancer IPs accept only 198\.51\.100\.0\/24, 203\.0\.113\.0\/30$/,
    ],
    [
      'another port of a cluster IP',
      [rawService()],
      [rawSlice()],
      to('10.96.7.1', 81),
      /^it is a cluster-ip of shop\/cart, which has only the ports 80\/TCP there; packets to others are rejected$/,
    ],
    [
      'an address of nobody in the service range',
      [],
      [],
      to('10.96.9.9', 80),
      /^it is in the service range 10\.96\.0\.0\/12, but no Service has it; packets to it are dropped$/,
    ],
    ['the first of two claimants', [other, rawService()], [], to('10.96.7.1', 80), /service-name=cart$/],
  ])('%s', (_, services, slices, packet, reason) => {
    const { addresses } = new SeenCluster().deliver(services, slices);
    expect(rejectionOf(addresses, packet)).toMatch(reason);
  });

  it('none where it is forwarded', () => {
    const { addresses } = new SeenCluster().deliver([rawService()], [rawSlice()]);
    expect(rejectionOf(addresses, to('10.96.7.1', 80))).toBeUndefined();
  });
});

describe('which silent endpoints get no share of packets to a frontend', () => {
  const annotations = { 'kube-proxy-ts/eject-unresponsive-endpoints': 'true' };
  const wish = { metadata: { namespace: 'shop', name: 'cart', annotations } };
  const two = rawSlice({ endpoints: ['10.1.1.1', '10.1.1.2'].map((one) => ({ addresses: [one] })) });
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] };

  it.each([
    ['its cluster IP', to('10.96.7.1', 80), true],
    ['its node port', to('192.0.2.4', 30080), true],
    ['another port', to('10.96.7.1', 81), false],
    ['another address', to('10.96.7.2', 80), false],
    ['another family', { ...to('fd00:96::7', 80), family: 'IPv6' } as const, false],
    ['another protocol', { ...to('10.96.7.1', 80), protocol: 'UDP' } as const, false],
  ])('to %s', (_, packet, isTold) => {
    const cluster = new SeenCluster();
    cluster.aside.add('10.1.1.2:8080');
    cluster.deliver([rawService(spec, wish)], [two]);
    const ports = cluster.loops[0]!.table.entries();
    expect(ejectedAt(cluster.addresses, packet, ports)).toEqual(
      isTold ? ['endpoint 10.1.1.2:8080 is about to be tried again'] : [],
    );
  });

  it('none of a Service that has lost the frontend to another one', () => {
    const cluster = new SeenCluster();
    cluster.aside.add('10.1.1.2:8080');
    cluster.deliver([rawService(spec, wish)], [two]);
    const held = [{ frontend: '10.96.7.1:80/TCP', owner: 'shop/other' }];
    cluster.statuses.set('IPv4', 'shop/cart/tcp/', {
      state: 'degraded',
      sinceTime: timeText(1),
      reason: 'lost',
      conflicts: held,
    });
    const [port] = cluster.loops[0]!.table.entries();
    expect(ejectedAt(cluster.addresses, to('10.96.7.1', 80), [port!])).toEqual([]);
    expect(ejectedAt(cluster.addresses, to('192.0.2.4', 30080), [port!])).toHaveLength(1);
  });
});
