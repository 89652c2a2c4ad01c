import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import { SERVICE_SETS, setName } from '../../../src/domain/ipvs/service-sets.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { follow, serviceChange } from '../../support/iptables/arbitraries.js';
import { MemoryNode, nodeNetwork } from './memory-node.js';

const NAMES = ['a', 'b', 'c'];

const batch = (family: IpFamily) =>
  fc.record({
    changes: fc.array(serviceChange(family, NAMES), { maxLength: 3 }),
    refused: fc.constantFrom('nothing', 'servers', 'sets', 'addresses'),
    nodeAddresses: fc.constantFrom<string[][]>([], ['10.0.0.2', 'fd00::2'], ['192.0.2.1', '2001:db8::1']),
  });

function stateOf(node: MemoryNode, family: IpFamily) {
  const chains = (table: 'nat' | 'filter') =>
    ['KUBE-SERVICES', 'KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-POSTROUTING', 'KUBE-IPVS-OUT-FILTER']
      .map((chain) => node.rules(table, chain, family))
      .map((rules) => rules?.toSorted());
  return {
    servers: node.servers.all
      .map(({ server, reals }) => ({ ...server, reals: reals.map(({ address }) => address).sort() }))
      .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    addresses: node.addresses.all,
    members: SERVICE_SETS.map((set) => node.sets.members(setName(set, family))),
    rules: [chains('nat'), chains('filter')],
  };
}

describe('a running backend has in the kernel what a fresh one would make', () => {
  it.each(IP_FAMILIES)('after any sequence of changes, and of refusals that end, in %s', async (family) => {
    await fc.assert(
      fc.asyncProperty(fc.array(batch(family), { maxLength: 5 }), async (sequence) => {
        const node = new MemoryNode();
        const backend = node.backend(family);
        const present = new Map<string, ForwardingEntry>();
        let network = nodeNetwork(family);
        await backend.start([], network);
        for (const { changes, refused, nodeAddresses } of sequence) {
          network = nodeNetwork(family, {
            nodeAddresses: nodeAddresses.filter((address) => address.includes(':') === (family === 'IPv6')),
          });
          if (refused !== 'nothing') node[refused].refuse(() => 'EPERM');
          const all = new Map<string, ForwardingChange>();
          for (const one of changes) for (const each of follow(one, present)) all.set(each.key, each);
          const { failed } = await backend.apply([...all.values()], network);
          if (refused === 'nothing') expect(failed).toEqual([]);
          for (const part of [node.servers, node.sets, node.addresses]) part.refuse(() => undefined);
          // What failed is asked for again; what could not be removed goes with the next glance.
          await backend.apply(
            failed.map(({ key }) => ({ key, entry: present.get(key) })),
            network,
          );
          await backend.verify('glance');
          const fresh = new MemoryNode();
          await fresh.backend(family).start(present.values(), network);
          expect(stateOf(node, family)).toEqual(stateOf(fresh, family));
          expect(await backend.verify('inspection')).toMatchObject({ written: 0 });
        }
      }),
      { numRuns: 40 },
    );
  });
});
