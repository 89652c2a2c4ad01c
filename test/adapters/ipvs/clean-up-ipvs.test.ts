import { ToolMissingError } from '../../../src/adapters/tool-programs.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { setName, SERVICE_SETS } from '../../../src/domain/ipvs/service-sets.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { MemoryNode, nodeNetwork } from './memory-node.js';
import { entryOf, foreign } from './services.js';

let node: MemoryNode;
beforeEach(() => (node = new MemoryNode()));

async function cleanUp(): Promise<void> {
  for (const family of IP_FAMILIES) await node.reopened(family).cleanup();
}

const holdings = () => ({
  servers: Object.keys(node.servers.weights),
  addresses: node.addresses.all,
  sets: node.sets.names,
  chains: ['KUBE-SERVICES', 'KUBE-IPVS-FILTER', 'KUBE-NODE-PORT'].filter(
    (chain) => node.rules('nat', chain) ?? node.rules('filter', chain),
  ),
  jumps: node.rules('nat', 'PREROUTING'),
});

describe('clean-up', () => {
  beforeEach(async () => {
    for (const family of IP_FAMILIES) await node.backend(family).start([], nodeNetwork(family));
    await node.backend().start([entryOf('a')], nodeNetwork());
    node.takeJournal();
  });

  it('leaves nothing, neither of IPv4 nor of IPv6', async () => {
    await cleanUp();
    expect(holdings()).toEqual({ servers: [], addresses: undefined, sets: [], chains: [], jumps: [] });
  });

  it('takes virtual servers first, then device, rules and sets', async () => {
    await node.reopened().cleanup();
    expect(node.takeJournal().slice(0, 4)).toEqual([
      'delete 10.96.0.1:80/TCP',
      'remove device',
      'restore',
      'restore',
    ]);
    expect(node.sets.names).toEqual(SERVICE_SETS.map((set) => setName(set, 'IPv6')));
  });

  it('leaves virtual servers at excluded addresses', async () => {
    node.servers.tamper({ kind: 'add', server: foreign });
    await node.backend('IPv4', { excludeCIDRs: [parseCidr('198.51.100.0/24')!] }).cleanup();
    expect(holdings().servers).toEqual(['198.51.100.1:80/TCP']);
  });

  it.each([
    ['virtual servers', () => node.servers, () => holdings().servers],
    ['the device', () => node.addresses, () => holdings().addresses],
    ['the rules', () => node.iptables, () => holdings().chains],
  ] as const)('goes on without %s, and says so', async (_, part, rest) => {
    part().fail(new Error('EPERM'));
    await expect(node.reopened().cleanup()).rejects.toThrow(AggregateError);
    part().fail(undefined);
    expect(rest()).not.toHaveLength(0);
    expect(node.logger.at('error').length).toBeGreaterThan(0);
    await cleanUp();
    expect(holdings()).toEqual({ servers: [], addresses: undefined, sets: [], chains: [], jumps: [] });
  });

  it('says that it cannot look for sets without their tool, and removes all else', async () => {
    node.sets.fail(new ToolMissingError('ipset', 'ipset'));
    await expect(node.reopened().cleanup()).rejects.toThrow(/IPv4/);
    expect(String(node.logger.at('error')[0]?.facts.error)).toContain('cannot start ipset');
    expect(holdings()).toMatchObject({ servers: [], addresses: undefined, chains: [] });
  });

  it('says which set cannot be removed, and removes the others', async () => {
    node.sets.refuse((step) =>
      step.kind === 'destroy' && step.set === 'KUBE-CLUSTER-IP' ? 'in use by a kernel component' : undefined,
    );
    await expect(node.reopened().cleanup()).rejects.toThrow(/IPv4/);
    expect(node.sets.names.filter((name) => !name.startsWith('KUBE-6-'))).toEqual(['KUBE-CLUSTER-IP']);
  });
});

it('leaves the virtual servers of others where the mode never was', async () => {
  node.servers.tamper({ kind: 'add', server: foreign });
  await cleanUp();
  expect(node.takeJournal()).toEqual([]);
  expect(holdings().servers).toEqual(['198.51.100.1:80/TCP']);
});
