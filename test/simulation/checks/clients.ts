import type { Packet } from '../walks/packet-walk.js';
import type { ExpectedFrontend, ExpectedPort } from './expected-ports.js';

export type ClientKind = 'pod' | 'node' | 'outside' | 'admitted' | 'other-node-pod' | 'hairpin';

/** Somebody who connects. */
export interface Client {
  readonly kind: ClientKind;
  readonly source: string;
  /** Missing: the node itself. */
  readonly inputInterface?: string;
}

const LAST = {
  IPv4: { pod: '10.244.1.250', other: '10.244.2.250', outside: '203.0.113.77' },
  IPv6: { pod: 'fd00:10:244:1::fa', other: 'fd00:10:244:2::fa', outside: '2001:db8:ffff::77' },
} as const;

/** One client of each class that rules may tell apart. */
export function clientsOf({
  family,
  sourceRanges,
  cluster,
  local,
  nodeAddress,
}: ExpectedPort): readonly Client[] {
  const { pod, other, outside } = LAST[family];
  const inside = [...cluster, ...local].find((one) => one.local);
  return [
    { kind: 'pod', source: pod, inputInterface: 'veth1' },
    { kind: 'node', source: nodeAddress },
    { kind: 'outside', source: outside, inputInterface: 'eth0' },
    { kind: 'other-node-pod', source: other, inputInterface: 'eth0' },
    ...sourceRanges.map((range) => ({
      kind: 'admitted' as const,
      source: withinRange(range),
      inputInterface: 'eth0',
    })),
    ...(inside ? [{ kind: 'hairpin' as const, source: inside.address, inputInterface: 'veth2' }] : []),
  ];
}

/** The first packet of a connection. */
export function packetOf(
  { family, nodeAddress }: Pick<ExpectedPort, 'family' | 'nodeAddress'>,
  { source, inputInterface }: Client,
  { address, port, protocol }: ExpectedFrontend,
): Packet {
  return {
    family,
    inputInterface,
    source,
    destination: address ?? nodeAddress,
    protocol,
    destinationPort: port,
  };
}

/** An address of a range that the schedules use: its base with a host of its own. */
function withinRange(range: string): string {
  const [base = ''] = range.split('/');
  return base.includes(':') ? `${base}5` : base.replace(/\d+$/, '5');
}
