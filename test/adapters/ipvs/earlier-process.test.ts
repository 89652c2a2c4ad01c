import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { MemoryNode, nodeNetwork, start } from './memory-node.js';
import { changed, entryOf, gone, LOAD_BALANCER } from './services.js';

const network = nodeNetwork();
let node: MemoryNode;
let backend: Backend;
beforeEach(() => {
  node = new MemoryNode();
  backend = node.backend();
});

const started = (...lists: (readonly ForwardingEntry[])[]) => start(node, backend, lists.flat());

describe('what an earlier process left', () => {
  const udp = (nodePort = 0): Partial<Service> => ({
    ports: [{ name: '', protocol: 'UDP', port: 53, nodePort }],
  });

  it('of UDP and led to endpoints, and is removed by the start, is told', async () => {
    const kept = entryOf('a', [1], udp());
    const excluded = entryOf('b', [1], { ...udp(), externalIPs: [parseAddress('198.51.100.9')!] });
    await started([kept, excluded, entryOf('c', [1], udp(30053)), entryOf('d', [], udp()), entryOf('e')]);
    const excludeCIDRs = [parseCidr('198.51.100.0/24')!];
    node.iptables.reopen();
    const { lost } = await node.backend('IPv4', { excludeCIDRs }).start([kept], network);
    expect(lost).toEqual([
      { address: '10.96.0.2', port: 53 },
      { address: '10.96.0.3', port: 53 },
      { address: '192.0.2.11', port: 30053 },
    ]);
  });
});

describe('what nothing explains, where not everything could be read', () => {
  const incomplete = { keepUnexplained: true };
  const external = { externalIPs: [parseAddress('198.51.100.9')!] };
  const members = () =>
    node.sets.names.flatMap((set) => node.sets.members(set)!.map((one) => `${set} ${one}`));

  it('is kept, with the rules for its sets, and its endpoints keep their weight', async () => {
    await started([entryOf('a'), entryOf('b', [2], external)]);
    const before = [members(), node.servers.weights, node.addresses.all, node.rules('nat', 'KUBE-SERVICES')];
    backend = node.reopened();
    expect(await backend.start([entryOf('a')], network, incomplete)).toMatchObject({ written: 0 });
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
    expect([members(), node.servers.weights, node.addresses.all, node.rules('nat', 'KUBE-SERVICES')]).toEqual(
      before,
    );
  });

  it('is kept with the rule that keeps this node out, which names no service, until everything was read', async () => {
    const denied = () => node.rules('filter', 'KUBE-IPVS-OUT-FILTER');
    const restricted = entryOf('b', [2], LOAD_BALANCER);
    await started([entryOf('a'), restricted]);
    const before = denied();
    expect(before).toHaveLength(1);
    backend = node.reopened();
    await backend.start([entryOf('a')], network, incomplete);
    expect(denied()).toEqual(before);
    await backend.apply(changed(restricted), network);
    // Kept, and written for the Service as well: it does not say whose it was.
    expect(new Set(denied())).toEqual(new Set(before));
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
    await backend.start([entryOf('a')], network);
    expect(denied()).toEqual([]);
  });

  it('is explained by the frontend that it belongs to: what that has no more goes, at the start or later', async () => {
    const local = { ...external, externalPolicyLocal: true };
    await started([entryOf('a', [1], local), entryOf('b')]);
    backend = node.reopened();
    await backend.start([entryOf('a', [1], external)], network, incomplete);
    expect(members()).toContain('KUBE-EXTERNAL-IP 198.51.100.9,tcp:80');
    expect(members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP-LOCAL'))).toEqual([]);

    await started([entryOf('a', [1], local), entryOf('b')]);
    backend = node.reopened();
    await backend.start([entryOf('b')], network, incomplete);
    expect(members()).toContain('KUBE-EXTERNAL-IP-LOCAL 198.51.100.9,tcp:80');
    await backend.apply(changed(entryOf('a', [1], external)), network);
    expect(members().filter((one) => one.startsWith('KUBE-EXTERNAL-IP-LOCAL'))).toEqual([]);
    await backend.apply(gone('a'), network);
    expect(Object.keys(node.servers.weights)).toEqual(['10.96.0.2:80/TCP']);
    expect(node.addresses.all).toEqual(['10.96.0.2']);
  });
});
