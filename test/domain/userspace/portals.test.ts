import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { Service } from '../../../src/domain/model/service.js';
import { UnsafeRuleTextError } from '../../../src/domain/iptables/rule-text.js';
import { canonicalRule } from '../../../src/domain/iptables/saved-tables.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  USERSPACE_BASE_RULES,
  compilePortals,
  type ProxyAddress,
} from '../../../src/domain/userspace/portals.js';
import { service } from '../../support/samples.js';

const EVERYWHERE: ProxyAddress = { listen: undefined, host: '192.0.2.4' };
const ONE: ProxyAddress = { listen: '192.0.2.5', host: '192.0.2.5' };
const addresses = (...texts: string[]) => texts.map((text) => parseAddress(text)!);

const WEB: Partial<Service> = {
  ports: [{ name: 'web', protocol: 'TCP', port: 80, nodePort: 31080 }],
  externalIPs: addresses('192.0.2.10'),
  loadBalancerIPs: addresses('203.0.113.9'),
};

function entryOf(parts: Partial<Service>, family: IpFamily = 'IPv4'): ForwardingEntry {
  const [entry] = forwardService(service(parts), () => [], {
    family,
    topology: { nodeName: 'n1', zone: '', nodeHints: false },
    nodeIP: '192.0.2.4',
    externalIPsAllowed: true,
  });
  return entry!;
}

function portals(parts: Partial<Service>, address = EVERYWHERE, family: IpFamily = 'IPv4'): string[] {
  const entry = entryOf(parts, family);
  const { chains, entries } = compilePortals(entry, entry.frontends, 40001, address);
  expect(chains).toEqual([]);
  for (const { rule } of entries) expect(canonicalRule(rule, family)).toBe(rule);
  return entries.map(({ table, chain, rule }) => `${table} -A ${chain} ${rule}`);
}

const head = (ip: string, port = 80) =>
  `-d ${ip}/32 -p tcp -m comment --comment "shop/cart:web" -m tcp --dport ${port}`;
const nodePort = '-p tcp -m comment --comment "shop/cart:web" -m tcp --dport 31080';

describe('compilePortals', () => {
  it('redirects where the proxy listens on every address, and sends to the host address from this host', () => {
    const redirect = '-j REDIRECT --to-ports 40001';
    const send = '-j DNAT --to-destination 192.0.2.4:40001';
    expect(portals(WEB)).toEqual([
      `nat -A KUBE-PORTALS-CONTAINER ${head('10.96.7.1')} ${redirect}`,
      `nat -A KUBE-PORTALS-HOST ${head('10.96.7.1')} ${send}`,
      `nat -A KUBE-PORTALS-CONTAINER ${head('192.0.2.10')} -m physdev ! --physdev-is-in ${redirect}`,
      `nat -A KUBE-PORTALS-CONTAINER ${head('192.0.2.10')} -m addrtype --dst-type LOCAL ${redirect}`,
      `nat -A KUBE-PORTALS-HOST ${head('192.0.2.10')} -m addrtype --dst-type LOCAL ${send}`,
      `nat -A KUBE-PORTALS-CONTAINER ${head('203.0.113.9')} ${redirect}`,
      `nat -A KUBE-PORTALS-HOST ${head('203.0.113.9')} ${send}`,
      `nat -A KUBE-NODEPORT-CONTAINER ${nodePort} ${redirect}`,
      `nat -A KUBE-NODEPORT-HOST ${nodePort} ${send}`,
      'filter -A KUBE-NODEPORT-NON-LOCAL -p tcp -m comment --comment "shop/cart:web" -m tcp --dport 40001 -m state --state NEW -j ACCEPT',
    ]);
  });

  it('sends everything to the one address that it listens on', () => {
    const targets = portals(WEB, ONE).map((rule) => rule.replace(/^.* -j /, ''));
    expect(targets).toEqual([...Array(9).fill('DNAT --to-destination 192.0.2.5:40001'), 'ACCEPT']);
  });

  it('writes UDP, unnamed ports and IPv6', () => {
    const dns: Partial<Service> = {
      clusterIPs: { IPv6: 'fd00:96::a' },
      ports: [{ name: '', protocol: 'UDP', port: 53, nodePort: 0 }],
    };
    const comment = '-m comment --comment "shop/cart" -m udp --dport 53';
    expect(portals(dns, { listen: undefined, host: '2001:db8::4' }, 'IPv6')).toEqual([
      `nat -A KUBE-PORTALS-CONTAINER -d fd00:96::a/128 -p udp ${comment} -j REDIRECT --to-ports 40001`,
      `nat -A KUBE-PORTALS-HOST -d fd00:96::a/128 -p udp ${comment} -j DNAT --to-destination [2001:db8::4]:40001`,
    ]);
  });
});

it.each([
  ['port', { port: 65_536 }, 40_001],
  ['proxy port', {}, 65_536],
])('what is no %s cannot get into a rule', (what, parts, proxyPort) => {
  const entry = entryOf(WEB);
  const frontends = entry.frontends.map((frontend) => ({ ...frontend, ...parts }));
  const compile = () => compilePortals(entry, frontends, proxyPort, EVERYWHERE);
  expect(compile).toThrow(UnsafeRuleTextError);
  expect(compile).toThrow(new RegExp(`^${what} "65536"`));
});

describe('USERSPACE_BASE_RULES', () => {
  it('leads to its chains, service addresses before node ports', () => {
    const jumps = USERSPACE_BASE_RULES.jumps.map(
      ({ table, chain, rule, place }) => `${table} ${chain} ${place}: ${rule}`,
    );
    const portals =
      '-m comment --comment "handle ClusterIPs; NOTE: this must be before the NodePort rules" -j KUBE-PORTALS-';
    const nodePorts =
      '-m addrtype --dst-type LOCAL -m comment --comment "handle service NodePorts; NOTE: this must be the last rule in the chain" -j KUBE-NODEPORT-';
    expect(jumps).toEqual([
      `nat PREROUTING first: ${portals}CONTAINER`,
      `nat OUTPUT first: ${portals}HOST`,
      `nat PREROUTING last: ${nodePorts}CONTAINER`,
      `nat OUTPUT last: ${nodePorts}HOST`,
      'filter INPUT first: -m comment --comment "Ensure that non-local NodePort traffic can flow" -j KUBE-NODEPORT-NON-LOCAL',
    ]);
    for (const { table, rule } of USERSPACE_BASE_RULES.jumps)
      expect(USERSPACE_BASE_RULES.shared).toContainEqual(
        expect.objectContaining({ table, name: rule.split(' ').at(-1) }),
      );
  });
});
