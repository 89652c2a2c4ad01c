import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { NodeContexts, type NodeSettings } from '../../../src/application/node/node-contexts.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { USUAL_SETTINGS } from '../../support/usual-settings.js';

const settings: NodeSettings = { ...USUAL_SETTINGS, nodePortAddresses: [] };

const local = { list: () => ['127.0.0.1', '10.0.0.7', '10.0.0.3', '::1', 'fd00::7'] };

function networks(part: Partial<NodeSettings>) {
  const logger = new MemoryLogger();
  const contexts = new NodeContexts({ ...settings, ...part }, new ClusterState(), local, logger);
  const ports = (family: 'IPv4' | 'IPv6') => {
    const { nodePortIPs, localhostNodePorts } = contexts.of(family, true).network;
    return { nodePortIPs, localhostNodePorts };
  };
  return { ipv4: ports('IPv4'), ipv6: ports('IPv6'), logger };
}

describe('node ports on loopback addresses (docs/internals/spec/model.md §7)', () => {
  it('answer in IPv4 where everything answers and the mode asks for it', () => {
    const { ipv4, ipv6 } = networks({ localhostNodePorts: true });
    expect(ipv4).toEqual({ nodePortIPs: 'all', localhostNodePorts: true });
    expect(ipv6).toEqual({ nodePortIPs: 'all' });
    expect(networks({}).ipv4.localhostNodePorts).toBeUndefined();
  });

  it('answer where the list names them', () => {
    const nodePortAddresses = ['10.0.0.0/8', '127.0.0.0/8'];
    const { ipv4, ipv6, logger } = networks({ localhostNodePorts: true, nodePortAddresses });
    expect(ipv4).toEqual({ nodePortIPs: ['10.0.0.3', '10.0.0.7', '127.0.0.1'], localhostNodePorts: true });
    expect(ipv6.nodePortIPs).toBe('all');
    expect(logger.lines).toEqual([]);
  });

  it('do not answer where the list leaves them out', () => {
    const { ipv4 } = networks({ localhostNodePorts: true, nodePortAddresses: ['10.0.0.0/8'] });
    expect(ipv4).toEqual({ nodePortIPs: ['10.0.0.3', '10.0.0.7'] });
  });

  it('are left out if the mode does not support them, and always in IPv6; logged where that is asked for', () => {
    const nodePortAddresses = ['127.0.0.0/8', '::1/128', 'fd00::/64'];
    const silent = networks({ nodePortAddresses });
    expect([silent.ipv4.nodePortIPs, silent.ipv6.nodePortIPs]).toEqual([[], ['fd00::7']]);
    expect(silent.logger.lines).toEqual([]);
    const loopbackProblems = { IPv4: 'not in IPv4', IPv6: 'not in IPv6' };
    const without = networks({ nodePortAddresses, loopbackProblems });
    expect(without.logger.at('error')).toMatchObject([
      { facts: { address: '127.0.0.1' }, message: 'not in IPv4' },
      { facts: { address: '::1' }, message: 'not in IPv6' },
    ]);
    const having = networks({ localhostNodePorts: true, nodePortAddresses, loopbackProblems });
    expect(having.ipv6).toEqual({ nodePortIPs: ['fd00::7'] });
    expect(having.logger.at('error')).toMatchObject([{ facts: { address: '::1' } }]);
  });

  it('are rejected or relayed, by family, where the mode has them to itself', () => {
    const relayed = (nodePortAddresses: readonly string[]) => {
      const part = { ...settings, ownsLoopbackNodePorts: true, nodePortAddresses };
      const contexts = new NodeContexts(part, new ClusterState(), local, new MemoryLogger());
      return (['IPv4', 'IPv6'] as const).map((family) => contexts.of(family, true).network.loopbackNodePorts);
    };
    expect(relayed([])).toEqual(['rejected', 'rejected']);
    expect(relayed(['all'])).toEqual(['rejected', 'rejected']);
    expect(relayed(['primary', 'localhost'])).toEqual(['relayed', 'relayed']);
    expect(relayed(['all', '127.0.0.1/32'])).toEqual(['relayed', 'rejected']);
    expect(relayed(['127.0.0.2/32'])).toEqual(['rejected', 'rejected']);
  });
});
