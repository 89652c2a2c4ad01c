import fc from 'fast-check';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import { sortedOnce, endpointPlace, type Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Protocol, ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import type { Service } from '../../../src/domain/model/service.js';
import { hostPort, parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

const PREFIX: Readonly<Record<IpFamily, string>> = { IPv4: '10.0.0.', IPv6: 'fd00::' };

/** A network that the node is not in. */
const OUTSIDE: Readonly<Record<IpFamily, string>> = { IPv4: '192.0.2.0', IPv6: '2001:db8::' };

const ranges = (network: string, family: IpFamily) => [
  parseCidr(`${network}/${family === 'IPv4' ? 24 : 64}`)!,
];

/** Few addresses and ports, so that service ports often claim the same. */
const digit = fc.integer({ min: 1, max: 3 });
const protocol = fc.constantFrom<Protocol[]>('TCP', 'UDP', 'SCTP');

const endpoint = (family: IpFamily): fc.Arbitrary<Endpoint> =>
  fc
    .record({
      last: fc.integer({ min: 1, max: 20 }),
      isLocal: fc.boolean(),
      ready: fc.boolean(),
      serving: fc.boolean(),
      terminating: fc.boolean(),
    })
    .map(({ last, ...state }) => {
      const address = `${PREFIX[family]}${last}`;
      return { address, port: 8080, text: hostPort(address, 8080), ...state, zoneHints: [], nodeHints: [] };
    });

const service = (family: IpFamily, name: string): fc.Arbitrary<Service> => {
  const addresses = fc
    .uniqueArray(digit, { maxLength: 2 })
    .map((digits) => digits.map((last) => parseAddress(`${PREFIX[family]}${last}`)!));
  return fc.record({
    namespace: fc.constant('default'),
    name: fc.constant(name),
    type: fc.constant('LoadBalancer' as const),
    clusterIPs: digit.map((last) => ({ [family]: `${PREFIX[family]}${last}` })),
    ports: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom('', 'http', 'dns'),
        protocol,
        port: fc.constantFrom(53, 80),
        nodePort: fc.constantFrom(0, 30000, 30001),
      }),
      { minLength: 1, maxLength: 3, selector: (port) => `${port.name} ${port.protocol}` },
    ),
    affinitySeconds: fc.constantFrom(0, 600),
    externalIPs: addresses,
    loadBalancerIPs: addresses,
    sourceRanges: fc.constantFrom([], ranges(`${PREFIX[family]}0`, family), ranges(OUTSIDE[family], family)),
    externalPolicyLocal: fc.boolean(),
    internalPolicyLocal: fc.boolean(),
    healthCheckNodePort: fc.constantFrom(0, 32000),
  });
};

/** The forwarding entries of all ports of a Service of that name. */
export function serviceEntries(family: IpFamily, name: string): fc.Arbitrary<readonly ForwardingEntry[]> {
  const endpoints = fc.uniqueArray(endpoint(family), { maxLength: 4, selector: endpointPlace });
  return fc.tuple(service(family, name), endpoints).map(([value, list]) =>
    forwardService(value, () => sortedOnce(list), {
      family,
      topology: { nodeName: 'node1', zone: '', nodeHints: true },
      nodeIP: `${PREFIX[family]}11`,
      externalIPsAllowed: true,
    }),
  );
}

/** A Service in a new state, or gone (without entries). */
export interface ServiceChange {
  /** The start of its service ports' keys. */
  readonly service: string;
  readonly entries: readonly ForwardingEntry[];
}

/** What happens to a Service of one of these names. */
export function serviceChange(family: IpFamily, names: readonly string[]): fc.Arbitrary<ServiceChange> {
  return fc
    .constantFrom(...names)
    .chain((name) =>
      fc
        .option(serviceEntries(family, name), { nil: [], freq: 4 })
        .map((entries) => ({ service: `default/${name}/`, entries })),
    );
}

/** A change as it comes to a backend, and noted in `present`, the entries of all service ports. */
export function follow(
  { service, entries }: ServiceChange,
  present: Map<ServicePortKey, ForwardingEntry>,
): readonly ForwardingChange[] {
  const changes: ForwardingChange[] = [];
  for (const key of present.keys())
    if (key.startsWith(service) && !entries.some((entry) => entry.key === key))
      changes.push({ key, entry: undefined });
  for (const entry of entries) changes.push({ key: entry.key, entry });
  for (const { key, entry } of changes) {
    if (entry) present.set(key, entry);
    else present.delete(key);
  }
  return changes;
}

/** The entries of Services of these names, and the same in another order. */
export function inTwoOrders(
  family: IpFamily,
  names: readonly string[],
): fc.Arbitrary<{
  readonly entries: readonly ForwardingEntry[];
  readonly shuffled: readonly ForwardingEntry[];
}> {
  return fc
    .tuple(...names.map((name) => serviceEntries(family, name)))
    .map((lists) => lists.flat())
    .chain((entries) =>
      fc.shuffledSubarray(entries, { minLength: entries.length }).map((shuffled) => ({ entries, shuffled })),
    );
}
