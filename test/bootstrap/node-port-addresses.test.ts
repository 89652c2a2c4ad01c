import { NodeContexts } from '../../src/application/node/node-contexts.js';
import { withMode } from '../../src/bootstrap/configuration/proxy-configuration.js';
import type { ProxyMode } from '../../src/bootstrap/configuration/schema.js';
import { nodeSettings } from '../../src/bootstrap/this-node.js';
import { parseAddress } from '../../src/domain/net/address.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { ClusterState } from '../../src/domain/state/cluster-state.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { parse } from './configuration/support.js';

/** Addresses of the machine beyond those of the Node. */
const FURTHER = ['192.0.2.5', 'fd00::5', '127.0.0.1', '127.0.0.2', '::1'];
const DUAL = ['192.0.2.4', 'fd00::4'];
const IPV4_ONLY = ['192.0.2.4'];
const LOOPBACK = ['127.0.0.1', '127.0.0.2'];

type Matched = 'all' | readonly string[];

/** The table of docs/internals/spec/changes-1.37.md §3: the list, the node, and the local addresses that match it, loopback among them. */
const ROWS: readonly (readonly [list: string, ips: readonly string[], ipv4: Matched, ipv6: Matched])[] = [
  ['primary', DUAL, ['192.0.2.4'], ['fd00::4']],
  ['primary', IPV4_ONLY, ['192.0.2.4'], 'all'],
  ['primary', [], 'all', 'all'],
  ['primary,localhost', DUAL, [...LOOPBACK, '192.0.2.4'], ['::1', 'fd00::4']],
  ['localhost,primary,localhost', DUAL, [...LOOPBACK, '192.0.2.4'], ['::1', 'fd00::4']],
  ['primary,localhost', IPV4_ONLY, [...LOOPBACK, '192.0.2.4'], ['::1']],
  ['localhost', DUAL, LOOPBACK, ['::1']],
  ['all', DUAL, 'all', 'all'],
  ['all,localhost', DUAL, 'all', 'all'],
  ['primary,127.0.0.1/32', DUAL, ['127.0.0.1', '192.0.2.4'], ['fd00::4']],
  ['primary,127.0.0.1/32', IPV4_ONLY, ['127.0.0.1', '192.0.2.4'], 'all'],
  ['127.0.0.2/32', DUAL, ['127.0.0.2'], 'all'],
];

function contexts(mode: ProxyMode, list: string, ips: readonly string[], ...flags: readonly string[]) {
  const asked = parse([`--proxy-mode=${mode}`, `--nodeport-addresses=${list}`, ...flags]);
  const configuration = withMode(asked.configuration, mode);
  const state = new ClusterState();
  const addresses = ips.map((ip) => parseAddress(ip)!);
  state.applyNode({ name: 'host-1', zone: '', ips: addresses, podCIDRs: [], draining: false });
  const logger = new MemoryLogger();
  const local = { list: () => [...ips, ...FURTHER] };
  const all = new NodeContexts(nodeSettings({ ...asked, configuration }), state, local, logger);
  const network = (family: IpFamily) => all.of(family, true).network;
  return { network, health: (family: IpFamily) => all.healthCheckAddresses(family), logger };
}

const withoutLoopback = (matched: Matched): Matched =>
  matched === 'all' ? 'all' : matched.filter((address) => !/^(127|::1)/.test(address));

describe.each(ROWS)('nodePortAddresses %s on a node with %j', (list, ips, ipv4, ipv6) => {
  it('mode iptables: loopback answers in IPv4', () => {
    const { network } = contexts('iptables', list, ips);
    const hasLoopback = ipv4 === 'all' || ipv4.some((address) => address.startsWith('127.'));
    expect(network('IPv4')).toMatchObject({
      nodePortIPs: ipv4,
      ...(hasLoopback && { localhostNodePorts: true }),
    });
    expect(network('IPv4').localhostNodePorts ?? false).toBe(hasLoopback);
    expect(network('IPv6')).toMatchObject({ nodePortIPs: withoutLoopback(ipv6) });
  });

  it.each(['nftables', 'ipvs'] as const)('mode %s: loopback is left out silently', (mode) => {
    const { network, logger } = contexts(mode, list, ips);
    expect(network('IPv4').nodePortIPs).toEqual(withoutLoopback(ipv4));
    expect(network('IPv6').nodePortIPs).toEqual(withoutLoopback(ipv6));
    expect(logger.lines).toEqual([]);
  });

  it('mode userspace: all addresses, loopback included', () => {
    const { network } = contexts('userspace', list, ips);
    expect(network('IPv4')).toMatchObject({ nodePortIPs: 'all', localhostNodePorts: true });
    expect(network('IPv6').nodePortIPs).toBe('all');
  });

  it.each(['iptables', 'nftables', 'ipvs'] as const)(
    'mode %s: health checks answer on all of them',
    (mode) => {
      const { health } = contexts(mode, list, ips);
      expect([health('IPv4'), health('IPv6')]).toEqual([ipv4, ipv6]);
    },
  );
});

describe('nodePortAddresses that are not configured', () => {
  it('are those of the node in mode nftables', () => {
    const { network } = contexts('nftables', '', DUAL);
    expect([network('IPv4').nodePortIPs, network('IPv6').nodePortIPs]).toEqual([['192.0.2.4'], ['fd00::4']]);
  });

  it.each(['iptables', 'ipvs'] as const)('are all in mode %s', (mode) => {
    const { network } = contexts(mode, '', DUAL);
    expect([network('IPv4').nodePortIPs, network('IPv6').nodePortIPs]).toEqual(['all', 'all']);
  });
});

describe('what is logged of loopback addresses that are left out', () => {
  const LOOPBACKS = '127.0.0.1/32,::1/128';
  const problems = (mode: ProxyMode, ...flags: readonly string[]) => {
    const { network, logger } = contexts(mode, LOOPBACKS, DUAL, ...flags);
    for (const family of ['IPv4', 'IPv6'] as const) for (let turn = 0; turn < 2; turn++) network(family);
    return logger.at('error').map(({ facts, message }) => [facts.address, message]);
  };

  it('mode iptables: those of IPv6, and all if node ports are off there', () => {
    const ipv6 = [
      '::1',
      '--nodeport-addresses includes localhost but localhost NodePorts are not supported on IPv6',
    ];
    expect(problems('iptables')).toEqual([ipv6]);
    expect(problems('iptables', '--iptables-localhost-nodeports=false')).toEqual([
      [
        '127.0.0.1',
        '--nodeport-addresses includes localhost but --iptables-localhost-nodeports=false was passed',
      ],
      ipv6,
    ]);
  });

  it('mode nftables: before 1.37', () => {
    const text = '--nodeport-addresses includes localhost but localhost NodePorts are not supported';
    expect(problems('nftables', '--kubernetes-version=1.36')).toEqual([
      ['127.0.0.1', text],
      ['::1', text],
    ]);
    for (const version of ['1.37', '1.38'])
      expect(problems('nftables', `--kubernetes-version=${version}`)).toEqual([]);
  });
});
