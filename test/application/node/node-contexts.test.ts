import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { NodeContexts, type NodeSettings } from '../../../src/application/node/node-contexts.js';
import type { Node } from '../../../src/domain/model/node.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { USUAL_SETTINGS } from '../../support/usual-settings.js';

const SETTINGS: NodeSettings = { ...USUAL_SETTINGS, nodeName: 'n1' };
const node = (ips: string[], parts: Partial<Node> = {}): Node => ({
  name: 'n1',
  zone: 'a',
  ips: ips.map((ip) => parseAddress(ip)!),
  podCIDRs: [],
  draining: false,
  ...parts,
});
let state: ClusterState;
let local: string[];
let logger: MemoryLogger;
const contexts = (settings: Partial<NodeSettings> = {}) =>
  new NodeContexts({ ...SETTINGS, ...settings }, state, { list: () => local }, logger);

beforeEach(() => {
  state = new ClusterState();
  local = ['127.0.0.1', '::1', '192.0.2.5', '192.0.2.4', 'fd00::4'];
  logger = new MemoryLogger();
});

describe('NodeContexts', () => {
  it('puts together what a family depends on', () => {
    state.applyNode(node(['192.0.2.4', 'fd00::4']));
    state.applyServiceCidr({ name: 'a', cidrs: [parseCidr('10.96.0.0/16')!, parseCidr('fd00:96::/112')!] });
    expect(contexts().of('IPv4', false)).toEqual({
      forwarding: {
        family: 'IPv4',
        topology: { nodeName: 'n1', zone: 'a', nodeHints: true },
        nodeIP: '192.0.2.4',
        externalIPsAllowed: true,
      },
      network: {
        family: 'IPv4',
        detector: { kind: 'cidr', cidr: parseCidr('10.244.0.0/16') },
        masqueradeBit: 14,
        masqueradeAll: false,
        nodePortIPs: ['192.0.2.4'],
        serviceCIDRs: ['10.96.0.0/16'],
      },
    });
    expect(contexts({ everyEndpoint: true }).of('IPv4', false).forwarding.everyEndpoint).toBe(true);
    const six = contexts().of('IPv6', false);
    expect(six.forwarding.nodeIP).toBe('fd00::4');
    expect(six.network).toMatchObject({
      detector: undefined,
      nodePortIPs: ['fd00::4'],
      serviceCIDRs: ['fd00:96::/112'],
    });
  });

  it('reserves what the proxy depends on, as it is at each refresh', () => {
    const all = contexts({ listeners: [{ address: '0.0.0.0', port: 10256, name: 'health' }] });
    const reserved = () => all.of('IPv4', true).forwarding.reserved;
    const own = { '192.0.2.4:10256/TCP': 'health', '192.0.2.5:10256/TCP': 'health' };
    const first = reserved();
    expect(first).toEqual({ ...own, 'node port 10256/TCP': 'health' });
    expect(reserved()).toBe(first);
    expect(all.usesApiServer('192.0.2.9', 6443)).toBe(true);
    expect(all.usesApiServer('192.0.2.9', 6443)).toBe(false);
    local = ['192.0.2.4'];
    expect(reserved()).toEqual({
      '192.0.2.4:10256/TCP': 'health',
      'node port 10256/TCP': 'health',
      '192.0.2.9:6443/TCP': 'the API server that this proxy uses',
    });
    expect(contexts().of('IPv4', true).forwarding.reserved).toBeUndefined();
  });

  it('reserves all addresses of an API server that has as many as DNS can tell, but no endless number', () => {
    const all = contexts();
    const use = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => {
        const [high, low] = [(from + index) >> 8, (from + index) & 255];
        return [`198.18.${high}.${low}`, `fd00::${high}:${low + 1}`].map((to) => all.usesApiServer(to, 6443));
      }).flat();
    use(0, 256);
    expect(use(0, 256)).not.toContain(true);
    expect(Object.keys(all.of('IPv4', true).forwarding.reserved!)).toHaveLength(256);
    use(1_000, 1_000);
    expect(Object.keys(all.of('IPv4', true).forwarding.reserved!)).toHaveLength(256);
    expect(use(0, 1)).toEqual([true, true]);
  });

  it('in IPVS mode reserves the address of the API server as long as the node does not have it', () => {
    const all = contexts({ namesNodeAddresses: true });
    all.usesApiServer('192.0.2.9', 6443);
    const names = () => Object.keys(all.of('IPv4', true).forwarding.reserved ?? {});
    expect(names()).toEqual(['192.0.2.9:6443/TCP', '192.0.2.9']);
    local = [...local, '192.0.2.9'];
    expect(names()).toEqual(['192.0.2.9:6443/TCP']);
  });

  it('reserves the addresses of the Node where the local ones cannot be read', () => {
    state.applyNode(node(['192.0.2.4']));
    const unreadable = {
      list: () => {
        throw new Error('EPERM');
      },
    };
    const settings = {
      ...SETTINGS,
      nodePortAddresses: [],
      listeners: [{ address: '::', port: 10256, name: 'health' }],
    };
    const { forwarding } = new NodeContexts(settings, state, unreadable, logger).of('IPv4', true);
    expect(forwarding.reserved).toMatchObject({ '192.0.2.4:10256/TCP': 'health' });
    expect(logger.at('debug')).toHaveLength(1);
  });

  it('without a Node has loopback addresses, no zone, and node ports everywhere', () => {
    const { forwarding, network } = contexts().of('IPv4', true);
    expect([forwarding.nodeIP, forwarding.topology.zone, network.nodePortIPs]).toEqual([
      '127.0.0.1',
      '',
      'all',
    ]);
  });

  it('primary, with a node that has one family, leaves the other open (docs/internals/spec/model.md §7)', () => {
    state.applyNode(node(['192.0.2.4']));
    expect(contexts().of('IPv4', true).network.nodePortIPs).toEqual(['192.0.2.4']);
    expect(contexts().of('IPv6', true).network.nodePortIPs).toBe('all');
  });

  it('keywords among CIDRs follow the addresses of the Node', () => {
    state.applyNode(node(['192.0.2.4']));
    const all = contexts({ nodePortAddresses: ['localhost', 'primary', '198.51.100.0/24'] });
    local = [...local, '198.51.100.1'];
    expect(all.of('IPv4', true).network.nodePortIPs).toEqual(['192.0.2.4', '198.51.100.1']);
    expect(all.of('IPv6', true).network.nodePortIPs).toEqual([]);
    state.applyNode(node(['192.0.2.5', 'fd00::4']));
    expect(all.of('IPv4', true).network.nodePortIPs).toEqual(['192.0.2.5', '198.51.100.1']);
    expect(all.of('IPv6', true).network.nodePortIPs).toEqual(['fd00::4']);
    expect(all.healthCheckAddresses('IPv6')).toEqual(['::1', 'fd00::4']);
  });

  it('gives the same object until something changed, also after a refresh', () => {
    const all = contexts();
    const first = all.of('IPv4', false);
    expect(all.of('IPv4', false)).toBe(first);
    expect(all.of('IPv4', true)).toBe(first);
    state.applyNode(node(['192.0.2.4']));
    expect(all.of('IPv4', false)).toBe(first);
    const second = all.of('IPv4', true);
    expect(second).not.toBe(first);
    expect(second.forwarding.nodeIP).toBe('192.0.2.4');
    state.applyNode(node(['192.0.2.4'], { draining: true }));
    expect(all.of('IPv4', true)).toBe(second);
    expect(all.of('IPv6', false)).not.toBe(second);
  });

  it('follows the interfaces, sorted and without loopback, which is reported once', () => {
    const loopbackProblems = { IPv4: 'no node ports here' };
    const all = contexts({ nodePortAddresses: ['192.0.2.0/24', '127.0.0.0/8'], loopbackProblems });
    expect(all.of('IPv4', true).network.nodePortIPs).toEqual(['192.0.2.4', '192.0.2.5']);
    local = ['192.0.2.9', '127.0.0.1', '198.51.100.1'];
    expect(all.of('IPv4', false).network.nodePortIPs).toEqual(['192.0.2.4', '192.0.2.5']);
    expect(all.of('IPv4', true).network.nodePortIPs).toEqual(['192.0.2.9']);
    local = [];
    expect(all.of('IPv4', true).network.nodePortIPs).toEqual([]);
    expect(logger.at('error').map(({ facts }) => facts)).toEqual([{ address: '127.0.0.1' }]);
  });

  it('names each address of the node where the mode asks for that', () => {
    local = ['192.0.2.5', '169.254.7.7', '127.0.0.1', 'fe80::1', 'fd00::4', '::1'];
    const naming = contexts({ namesNodeAddresses: true });
    expect(naming.of('IPv4', true).network.nodeAddresses).toEqual(['169.254.7.7', '192.0.2.5']);
    expect(naming.of('IPv6', true).network.nodeAddresses).toEqual(['fd00::4']);
    expect(contexts().of('IPv4', true).network).not.toHaveProperty('nodeAddresses');
  });

  it('serves node ports on link-local addresses only if requested, and never if the mode lists each address', () => {
    local = ['fe80::1', 'fd00::4'];
    const settings = { nodePortAddresses: ['fe80::/10', 'fd00::/8'] };
    const naming = contexts({ ...settings, namesNodeAddresses: true });
    expect(naming.of('IPv6', true).network.nodePortIPs).toEqual(['fd00::4']);
    expect(contexts(settings).of('IPv6', true).network.nodePortIPs).toEqual(['fd00::4', 'fe80::1']);
  });

  it('recognizes local traffic by pod CIDRs once the Node has them', () => {
    const all = contexts({ localTraffic: { ...SETTINGS.localTraffic, mode: 'NodeCIDR' } });
    expect(all.of('IPv4', true).network.detector).toBeUndefined();
    state.applyNode(node([], { podCIDRs: ['fd00:1::/64', '10.244.3.0/24', '10.244.4.0/24'] }));
    expect(all.of('IPv4', true).network.detector).toEqual({ kind: 'cidr', cidr: parseCidr('10.244.3.0/24') });
    expect(all.of('IPv6', true).network.detector).toEqual({ kind: 'cidr', cidr: parseCidr('fd00:1::/64') });
  });

  it('a specified bind address comes before the Node', () => {
    state.applyNode(node(['192.0.2.4']));
    expect(contexts({ bindAddress: '192.0.2.5' }).of('IPv4', true)).toMatchObject({
      forwarding: { nodeIP: '192.0.2.5' },
      network: { nodePortIPs: ['192.0.2.5'] },
    });
  });

  it('other settings count from the next refresh', () => {
    const following = contexts();
    const before = following.of('IPv4', false);
    following.use({ ...SETTINGS, masqueradeAll: true });
    expect(following.of('IPv4', false)).toBe(before);
    expect(following.of('IPv4', true).network).toMatchObject({ masqueradeAll: true });
  });

  it('answers health checks on the addresses of node ports, loopback included', () => {
    state.applyNode(node(['192.0.2.4', 'fd00::4']));
    const nodes = contexts({ nodePortAddresses: ['192.0.2.0/24', '127.0.0.0/8'] });
    expect(nodes.healthCheckAddresses('IPv4')).toEqual(['127.0.0.1', '192.0.2.4', '192.0.2.5']);
    expect(nodes.healthCheckAddresses('IPv6')).toBe('all');
    expect(contexts().healthCheckAddresses('IPv6')).toEqual(['fd00::4']);
    expect(contexts({ nodePortAddresses: ['198.51.100.0/24'] }).healthCheckAddresses('IPv4')).toEqual([]);
  });

  it('answers health checks everywhere when local addresses cannot be read', () => {
    const broken = {
      list: () => {
        throw new Error('no permission');
      },
    };
    const nodes = new NodeContexts(
      { ...SETTINGS, nodePortAddresses: ['192.0.2.0/24'] },
      state,
      broken,
      logger,
    );
    expect(nodes.healthCheckAddresses('IPv4')).toBe('all');
    expect(logger.at('debug')).toHaveLength(1);
  });
});
