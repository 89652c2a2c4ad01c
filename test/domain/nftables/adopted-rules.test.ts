import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import type { NftablesServicePortRules } from '../../../src/domain/nftables/state/service-port-rules.js';
import { NftablesAdoptedRules } from '../../../src/domain/nftables/state/adopted-rules.js';
import { contentsOf, type TableContents } from '../../support/nftables/table-contents.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import {
  servicePortKey,
  type Protocol,
  type ServicePortName,
} from '../../../src/domain/model/service-port-name.js';
import { REJECTED_NODE_PORTS } from '../../../src/domain/nftables/layout/sets.js';
import { unexplainedOwner } from '../../../src/domain/reconcile/claims.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';
import { endpoint as sampleEndpoint, FORWARDING, service } from '../../support/samples.js';

function hasEachFrontendOnce({ frontends }: ForwardingEntry): boolean {
  return new Set(frontends.map(({ address, port }) => `${address} ${port}`)).size === frontends.length;
}

function reachesAllEndpoints({ frontends, endpoints }: ForwardingEntry): boolean {
  const { cluster = [], local = [], reachable } = endpoints;
  const forwarding = frontends.filter(({ outcome }) => outcome === 'forward');
  const reached = new Set(forwarding.flatMap(({ policy }) => (policy === 'Local' ? local : cluster)));
  return reachable.every((endpoint) => reached.has(endpoint));
}

describe.each(IP_FAMILIES)('rules that are read back (%s)', (family) => {
  const node: NodeNetwork = {
    family,
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    serviceCIDRs: [],
  };

  function composed(rules: ReadonlyMap<string, NftablesServicePortRules>): NftablesDesiredState {
    const desired = new NftablesDesiredState();
    for (const [key, each] of rules) desired.replace(key, each);
    return desired;
  }
  const tableOf = (desired: NftablesDesiredState): TableContents => {
    const contents = contentsOf(desiredTable(desired, node));
    return { ...contents, chains: new Map([...contents.chains].sort()) };
  };

  it('make the table that they were read from', () => {
    fc.assert(
      fc.property(serviceEntries(family, 'a'), serviceEntries(family, 'b'), (one, other) => {
        const entries: readonly ForwardingEntry[] = [...one, ...other];
        const desired = composed(new Map(entries.map((entry) => [entry.key, compileNftables(entry)])));
        // What lost its frontend, to another service or to the same, has nothing there to be read.
        fc.pre(
          entries.every(({ key }) =>
            desired.rules(key)!.every((part) => desired.parts.ownerOf(part.key) === key),
          ),
        );
        fc.pre(entries.every(hasEachFrontendOnce));
        // Nor has an endpoint to which no frontend leads, as where external IPs are not allowed.
        fc.pre(entries.every(reachesAllEndpoints));
        const table = tableOf(desired);
        const adopted = new NftablesAdoptedRules(table.sets, desired);
        const read = entries.flatMap(({ key, name }) => {
          const rules = adopted.rules(adopted.labelsOf(name), key);
          return rules ? [[key, rules] as const] : [];
        });
        expect(tableOf(composed(new Map(read)))).toEqual(table);
      }),
      { numRuns: 12 },
    );
  });

  it('go without the frontends that others claim', () => {
    const entry = fc.sample(
      serviceEntries(family, 'a').map(([first]) => first!),
      { numRuns: 1, seed: 7 },
    )[0]!;
    const desired = composed(new Map([[entry.key, compileNftables(entry)]]));
    const adopted = new NftablesAdoptedRules(tableOf(desired).sets, desired);
    const labels = adopted.labelsOf(entry.name);
    expect([...adopted.labels()]).toEqual(labels);
    expect(adopted.rules(labels, entry.key)).toBeDefined();
    expect(adopted.rules(labels, servicePortKey({ ...entry.name, name: 'b' }))).toBeUndefined();
  });

  it('are those of their protocol, where two service ports have one name', () => {
    const base = fc.sample(
      serviceEntries(family, 'a').map(([first]) => first!),
      { numRuns: 1, seed: 7 },
    )[0]!;
    const [tcp, udp] = (['TCP', 'UDP'] as const).map((protocol) => {
      const name = { ...base.name, protocol };
      return { ...base, name, key: servicePortKey(name) };
    }) as [ForwardingEntry, ForwardingEntry];
    const rules = new Map([tcp, udp].map((entry) => [entry.key, compileNftables(entry)]));
    const adopted = new NftablesAdoptedRules(tableOf(composed(rules)).sets, new NftablesDesiredState());
    const keysOf = ({ name, key }: ForwardingEntry, owner = key) =>
      (adopted.rules(adopted.labelsOf(name), owner) ?? []).map((part) => part.key);
    const frontends = (parts: readonly string[], protocol: string) =>
      parts.filter((key) => key.includes(` . ${protocol} . `));
    expect(frontends(keysOf(udp), 'udp')).not.toEqual([]);
    expect(frontends(keysOf(udp), 'tcp')).toEqual([]);
    const unexplained = keysOf(udp, unexplainedOwner(adopted.labelsOf(udp.name)[0]!));
    for (const protocol of ['tcp', 'udp']) expect(frontends(unexplained, protocol)).not.toEqual([]);
  });

  it('of a port that has another name by now are found by its frontends, in its own Service only', () => {
    const entry = fc.sample(
      serviceEntries(family, 'a').map(([first]) => first!),
      { numRuns: 1, seed: 7 },
    )[0]!;
    const compiled = compileNftables(entry);
    const { sets } = tableOf(composed(new Map([[entry.key, compiled]])));
    const read = (name: ServicePortName) => {
      const adopted = new NftablesAdoptedRules(sets, new NftablesDesiredState());
      return adopted.rules(adopted.labelsOf(name, compiled), servicePortKey(name))?.map(({ key }) => key);
    };
    const renamed = { ...entry.name, port: 'renamed' };
    expect(read(renamed)?.sort()).toEqual(read(entry.name)?.sort());
    expect(read({ ...renamed, name: 'b' })).toBeUndefined();
    expect(read({ ...renamed, namespace: `${renamed.namespace}-b` })).toBeUndefined();
  });

  it('have the rejection of each node port on loopback addresses, where its protocol is rejected', () => {
    const [port] = service().ports;
    const endpoint = sampleEndpoint(family === 'IPv4' ? '10.1.1.1' : 'fd00::1');
    const [entry] = forwardService(
      service({
        type: 'NodePort',
        clusterIPs: { IPv4: '10.96.7.1', IPv6: 'fd00:96::1' },
        ports: [{ ...port!, nodePort: 30080 }],
      }),
      () => [endpoint],
      { ...FORWARDING, family },
    );
    const { sets } = tableOf(composed(new Map([[entry!.key, compileNftables(entry!)]])));
    const rejections = (...protocols: readonly Protocol[]) => {
      const adopted = new NftablesAdoptedRules(sets, new NftablesDesiredState(), new Set(), protocols);
      const parts = adopted.rules(adopted.labelsOf(entry!.name), entry!.key)!;
      return parts.filter(({ shared }) => shared === REJECTED_NODE_PORTS);
    };
    expect(rejections('UDP', 'SCTP')).toEqual([]);
    const [rejection, ...more] = rejections('TCP');
    expect([rejection!.key, more]).toEqual(['localhost-nodeport-reject-ports tcp . 30080', []]);
    // Unlike parts that other elements lead to, it is listed.
    expect(rejection!.listed).toEqual(rejection!.elements);
    expect(rejection!.elements).toEqual([
      { set: REJECTED_NODE_PORTS, key: 'tcp . 30080', value: 'goto localhost-nodeport-reject-tcp' },
    ]);
  });

  it('are missing in a table of another layout', () => {
    const none = new NftablesAdoptedRules(new Map(), new NftablesDesiredState());
    const name = { namespace: 'default', name: 'a', port: 'http', protocol: 'TCP' } as const;
    expect(none.rules(none.labelsOf(name), servicePortKey(name))).toBeUndefined();
  });
});
