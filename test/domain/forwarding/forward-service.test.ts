import { forwardService, type ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import { isExternal, shortCircuits } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { cidrText, parseCidr } from '../../../src/domain/net/cidr.js';
import { FORWARDING, endpoint, service } from '../../support/samples.js';

const remote = endpoint('10.244.2.1');
const local = endpoint('10.244.1.1', { isLocal: true });
const dead = endpoint('10.244.3.1', { ready: false, serving: false });
const addresses = (...texts: string[]) => texts.map((text) => parseAddress(text)!);
const EXPOSED: Partial<Service> = {
  ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
  externalIPs: addresses('192.0.2.10', 'fd00::10', '192.0.2.10'),
  loadBalancerIPs: addresses('203.0.113.9', 'fd00::9'),
};

function forward(
  parts: Partial<Service>,
  endpoints: readonly Endpoint[],
  context: Partial<ForwardingContext> = {},
) {
  const entries = forwardService(service(parts), () => endpoints, { ...FORWARDING, ...context });
  expect(entries.length).toBeLessThanOrEqual(1);
  return entries[0]!;
}

describe('forwardService', () => {
  it('gives nothing for a family without cluster IP, and an entry for each port otherwise', () => {
    expect(forwardService(service(), () => [], { ...FORWARDING, family: 'IPv6' })).toEqual([]);
    const ports = [
      { name: 'dns', protocol: 'UDP', port: 53, nodePort: 0 },
      { name: 'dns', protocol: 'TCP', port: 53, nodePort: 0 },
    ] as const;
    const asked: object[] = [];
    const entries = forwardService(service({ ports }), (port) => (asked.push(port), []), FORWARDING);
    expect(entries.map(({ key }) => key)).toEqual(['shop/cart/udp/dns', 'shop/cart/tcp/dns']);
    expect(asked).toEqual([
      { port: 'dns', protocol: 'UDP' },
      { port: 'dns', protocol: 'TCP' },
    ]);
  });

  it('lists the frontends of the family once each, cluster IP first', () => {
    const { frontends } = forward(EXPOSED, [remote]);
    expect(frontends.map(({ kind, address, port }) => [kind, address, port])).toEqual([
      ['cluster-ip', '10.96.7.1', 80],
      ['external-ip', '192.0.2.10', 80],
      ['load-balancer-ip', '203.0.113.9', 80],
      ['node-port', undefined, 30080],
    ]);
    expect(frontends.map(isExternal)).toEqual([false, true, true, true]);
    const six = forward({ ...EXPOSED, clusterIPs: { IPv6: 'fd00:96::1' } }, [], { family: 'IPv6' });
    expect(six.frontends.map(({ address }) => address)).toEqual([
      'fd00:96::1',
      'fd00::10',
      'fd00::9',
      undefined,
    ]);
  });

  it('leaves external IPs out when the gate is off, but still counts them as exposing', () => {
    const parts = { externalIPs: addresses('192.0.2.10'), internalPolicyLocal: true };
    const { frontends, endpoints } = forward(parts, [remote], { externalIPsAllowed: false });
    expect(frontends.map(({ kind }) => kind)).toEqual(['cluster-ip']);
    expect(endpoints.cluster).toEqual([remote]);
  });

  it.each<[string, Partial<Service>, Endpoint[], string, string]>([
    ['Cluster, endpoints', {}, [remote], 'forward', 'forward'],
    ['Cluster, none', {}, [], 'reject', 'reject'],
    ['Cluster, none usable', {}, [dead], 'reject', 'reject'],
    ['internal Local, here', { internalPolicyLocal: true }, [remote, local], 'forward', 'forward'],
    ['internal Local, only elsewhere', { internalPolicyLocal: true }, [remote], 'drop', 'forward'],
    ['internal Local, none', { internalPolicyLocal: true }, [], 'reject', 'reject'],
    ['external Local, here', { externalPolicyLocal: true }, [remote, local], 'forward', 'forward'],
    ['external Local, only elsewhere', { externalPolicyLocal: true }, [remote], 'forward', 'drop'],
    ['external Local, none', { externalPolicyLocal: true }, [dead], 'reject', 'reject'],
    [
      'both Local, only elsewhere',
      { externalPolicyLocal: true, internalPolicyLocal: true },
      [remote],
      'drop',
      'drop',
    ],
  ])('outcome (docs/internals/spec/model.md §5): %s', (_, parts, endpoints, internal, external) => {
    const entry = forward({ ...EXPOSED, ...parts }, endpoints);
    const [clusterIP, ...others] = entry.frontends;
    expect(clusterIP).toMatchObject({
      outcome: internal,
      policy: parts.internalPolicyLocal ? 'Local' : 'Cluster',
    });
    for (const frontend of others) {
      expect(frontend).toMatchObject({
        outcome: external,
        policy: parts.externalPolicyLocal ? 'Local' : 'Cluster',
      });
      expect(shortCircuits(entry, frontend)).toBe(
        parts.externalPolicyLocal === true && entry.endpoints.hasAny,
      );
    }
    expect(shortCircuits(entry, clusterIP!)).toBe(false);
  });

  it.each<[string, Partial<Service>, boolean, boolean]>([
    ['plain', {}, true, false],
    ['internal Local', { internalPolicyLocal: true }, false, true],
    ['internal Local, exposed', { ...EXPOSED, internalPolicyLocal: true }, true, true],
    ['external Local without external frontend', { externalPolicyLocal: true }, true, false],
    ['external Local, exposed', { ...EXPOSED, externalPolicyLocal: true }, true, true],
    [
      'exposed in the other family only',
      { internalPolicyLocal: true, loadBalancerIPs: addresses('fd00::9') },
      false,
      true,
    ],
  ])('which endpoints are needed (docs/internals/spec/model.md §2.2): %s', (_, parts, cluster, here) => {
    const { endpoints } = forward(parts, [remote]);
    expect([endpoints.cluster !== undefined, endpoints.local !== undefined]).toEqual([cluster, here]);
  });

  it('takes the source ranges of the family, and says whether one covers the node', () => {
    const ranges = (...texts: string[]) => ({ sourceRanges: texts.map((text) => parseCidr(text)!) });
    const entry = forward(ranges('198.51.100.0/24', 'fd00::/8'), []);
    expect(entry.sourceRanges.map(cidrText)).toEqual(['198.51.100.0/24']);
    expect(entry.sourceRangesCoverNode).toBe(false);
    expect(forward(ranges('198.51.100.0/24', '192.0.2.0/24'), []).sourceRangesCoverNode).toBe(true);
    expect(forward(ranges('fd00::/8'), []).sourceRanges).toEqual([]);
  });

  it('hands on affinity and the health-check node port', () => {
    expect(forward({ affinitySeconds: 30, healthCheckNodePort: 32000 }, [])).toMatchObject({
      affinitySeconds: 30,
      healthCheckNodePort: 32000,
    });
  });

  it('names the ready addresses on this node, once each, for a health-check node port', () => {
    const draining = endpoint('10.244.1.2', { isLocal: true, ready: false, terminating: true });
    const again = endpoint('10.244.1.1', { isLocal: true, port: 9090 });
    const all = [local, again, draining, dead, remote];
    const checked = forward({ externalPolicyLocal: true, healthCheckNodePort: 32111 }, all);
    expect(checked.localReadyIPs).toEqual(['10.244.1.1']);
    expect(forward({ healthCheckNodePort: 32111 }, []).localReadyIPs).toEqual([]);
    expect(forward({ externalPolicyLocal: true }, all)).not.toHaveProperty('localReadyIPs');
  });

  it('gives every frontend every endpoint where policies and topology are left aside', () => {
    const parts = { ...EXPOSED, internalPolicyLocal: true, externalPolicyLocal: true };
    const hinted = endpoint('10.244.2.2', { zoneHints: ['elsewhere'] });
    const here = endpoint('10.244.1.2', { isLocal: true, zoneHints: ['z'] });
    const topology = { nodeName: 'n1', zone: 'z', nodeHints: true };
    const plain = forward(parts, [here, hinted, dead], { everyEndpoint: true, topology });
    expect(plain.endpoints.reachable).toEqual([here, hinted]);
    expect(plain.frontends.map(({ policy, outcome }) => `${policy} ${outcome}`)).toEqual(
      Array(4).fill('Cluster forward'),
    );
    expect(forward(parts, [here, hinted, dead], { topology }).endpoints.reachable).toEqual([here]);
  });
});

describe('silent endpoints', () => {
  const two = [endpoint('10.244.2.1'), endpoint('10.244.2.2')];
  const first = () => new Set(['10.244.2.1:8080']);
  const entryOf = (parts: Partial<Service>, ejectUnresponsiveEndpoints?: boolean) =>
    forwardService(
      service(parts),
      () => two,
      { ...FORWARDING, ...(ejectUnresponsiveEndpoints !== undefined && { ejectUnresponsiveEndpoints }) },
      { ejected: first },
    )[0]!;

  it.each([
    [undefined, undefined, false],
    [true, undefined, true],
    [undefined, true, true],
    [true, false, false],
    [false, true, true],
  ])('step aside where the configuration (%s) or the Service (%s) wants it: %s', (flag, wish, expected) => {
    const entry = entryOf(wish === undefined ? {} : { ejectUnresponsiveEndpoints: wish }, flag);
    expect(entry.ejectsUnresponsiveEndpoints).toBe(expected || undefined);
    expect(entry.endpoints.reachable).toEqual(expected ? [two[1]] : two);
    expect(entry.knownEndpoints).toBe(2);
  });

  it('step aside for TCP and SCTP, never for UDP', () => {
    const ports = (['TCP', 'UDP', 'SCTP'] as const).map((protocol) => ({
      name: protocol.toLowerCase(),
      protocol,
      port: 80,
      nodePort: 0,
    }));
    const context = { ...FORWARDING, ejectUnresponsiveEndpoints: true };
    const entries = forwardService(service({ ports }), () => two, context, { ejected: first });
    expect(entries.map(({ endpoints }) => endpoints.reachable.length)).toEqual([1, 2, 1]);
  });

  it('do not step aside where all traffic may go to all endpoints, as in mode userspace', () => {
    const context = { ...FORWARDING, ejectUnresponsiveEndpoints: true, everyEndpoint: true };
    const [entry] = forwardService(service({ ejectUnresponsiveEndpoints: true }), () => two, context, {
      ejected: first,
    });
    expect(entry!.endpoints.reachable).toEqual(two);
    expect(entry).not.toHaveProperty('ejectsUnresponsiveEndpoints');
  });
});
