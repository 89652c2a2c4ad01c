import { plannedNftables } from '../../../../src/diagnostics/adapters/rules/nftables-rules.js';
import type { ForwardingEntry } from '../../../../src/domain/forwarding/forwarding-entry.js';
import { ForwardingTable } from '../../../../src/domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../../../src/domain/forwarding/node-network.js';
import { desiredIptables, desiredRules } from '../../../../src/diagnostics/domain/iptables/desired-rules.js';
import { ipvsPlan, tablesSide } from '../../../../src/diagnostics/domain/compare/tables-side.js';
import { desiredIpvs } from '../../../../src/diagnostics/domain/ipvs-walk.js';
import { parseAddress } from '../../../../src/domain/net/address.js';
import { ClusterState } from '../../../../src/domain/state/cluster-state.js';
import { desiredUserspace } from '../../../../src/diagnostics/domain/userspace-walk.js';
import { HOST } from '../../../support/iptables/services.js';
import { ARRIVING } from '../../../support/iptables/walked.js';
import { FORWARDING, service, slice, sliceEndpoint } from '../../../support/samples.js';

const [TAKEN, OTHER] = ['198.51.100.1', '198.51.100.2'];
const PORT = 30_080;
const NODE: NodeNetwork = {
  family: 'IPv4',
  detector: undefined,
  masqueradeBit: 14,
  masqueradeAll: false,
  nodePortIPs: 'all',
  nodeAddresses: [TAKEN, OTHER],
  serviceCIDRs: [],
};

const WALKS = {
  nftables: (entries: readonly ForwardingEntry[]) => plannedNftables(entries, NODE),
  iptables: (entries: readonly ForwardingEntry[]) =>
    tablesSide(desiredRules(desiredIptables(entries, NODE, HOST))),
  ipvs: (entries: readonly ForwardingEntry[]) =>
    ipvsPlan(desiredIpvs(entries, NODE, HOST, { scheduler: 'rr', hasScheduler: () => true })),
  userspace: (entries: readonly ForwardingEntry[]) =>
    desiredUserspace(entries, { listen: undefined, host: TAKEN }),
};

/** One Service with an address of the node, one with a node port of the same number. */
function entriesOf(
  names: readonly [string, string],
  addressed: Parameters<typeof service>[0],
  hasEndpoint: boolean,
): readonly ForwardingEntry[] {
  const state = new ClusterState();
  const port = { name: '', protocol: 'TCP', port: PORT, nodePort: 0 } as const;
  const [one, other] = names;
  state.applyService(service({ ...addressed, name: one, ports: [port] }));
  const nodePort = { ...port, port: 80, nodePort: PORT };
  state.applyService(service({ name: other, clusterIPs: { IPv4: '10.96.7.2' }, ports: [nodePort] }));
  const ports = [{ name: '', port: 8080, protocol: 'TCP' }] as const;
  if (hasEndpoint) state.applySlice(slice(one, [sliceEndpoint('10.0.0.1')], { service: one, ports }));
  state.applySlice(slice(other, [sliceEndpoint('10.0.0.2')], { service: other, ports }));
  return [...ForwardingTable.of(state, FORWARDING).entries()];
}

describe.each(Object.entries(WALKS))('in %s mode an address of the node', (_, walkOf) => {
  const taken = [parseAddress(TAKEN)!];

  it.each([
    [{ externalIPs: taken }, ['a', 'b']],
    [{ externalIPs: taken }, ['b', 'a']],
    [{ loadBalancerIPs: taken }, ['a', 'b']],
    [{ loadBalancerIPs: taken }, ['b', 'a']],
  ] as const)(
    'that a Service has comes before a node port of another one, as long as it has endpoints: %j of %j',
    (addressed, names) => {
      const endpointsAt = (destination: string, hasEndpoint: boolean) =>
        walkOf(entriesOf(names, addressed, hasEndpoint))
          .walk(
            { ...ARRIVING, destination, destinationPort: PORT },
            { localAddresses: new Set([TAKEN, OTHER]) },
          )
          .map(({ endpoint }) => endpoint?.address);
      expect(endpointsAt(TAKEN, true)).toEqual(['10.0.0.1']);
      expect(endpointsAt(OTHER, true)).toEqual(['10.0.0.2']);
      if (walkOf !== WALKS.userspace) expect(endpointsAt(TAKEN, false)).toEqual(['10.0.0.2']);
    },
  );
});
