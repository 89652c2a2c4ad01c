import { trackedConnections, type TrackedConnection } from './conntrack.js';
import type { Host, Packets } from './host.js';
import { planOf, type Family, type Target } from './probe-plan.js';
import type { Testbed } from './testbed.js';

/**
 * What became of the packets to one address from one client:
 *
 * - `to`: the endpoints they were sent on to; `masq`: whether their source address was rewritten, `mixed` if for some;
 * - `sticky` instead of `to` when the service has session affinity: whether all went to one endpoint. From the node
 *   itself without `masq`, which then depends on the route to the endpoint that was drawn;
 * - `refused`: an ICMP error or a reset came back; `untouched`: they passed, no rule took them; `dropped`: silence.
 */
export type Verdict =
  | { readonly to?: readonly string[]; readonly masq?: boolean | 'mixed'; readonly sticky?: boolean }
  | 'reject'
  | 'drop'
  | 'untouched';

/** Verdicts by `TARGET from CLIENT`. */
export type Verdicts = Readonly<Record<string, Verdict>>;

interface Client {
  readonly name: string;
  readonly host: 'pod' | 'node' | 'ext';
  /** The addresses its packets come from; the node's own depends on the route and is whatever is not another client's. */
  readonly src: Readonly<Partial<Record<Family, string>>>;
  /** Whether it binds to that address, or leaves it to its host to choose it. */
  readonly binds: boolean;
}

const clients: readonly Client[] = [
  { name: 'pod', host: 'pod', src: { ipv4: '10.244.1.200', ipv6: 'fd00:10:244:1::200' }, binds: false },
  { name: 'node', host: 'node', src: {}, binds: false },
  { name: 'ext', host: 'ext', src: { ipv4: '198.18.0.50', ipv6: '2001:db8:18::50' }, binds: true },
  { name: 'ext10', host: 'ext', src: { ipv4: '10.9.9.9' }, binds: true },
  { name: 'ext203', host: 'ext', src: { ipv4: '203.0.113.5' }, binds: true },
  { name: 'ext192', host: 'ext', src: { ipv4: '192.168.7.7' }, binds: true },
  { name: 'farpod', host: 'ext', src: { ipv4: '10.244.2.200' }, binds: true },
];
const clientBySource = new Map(
  clients.flatMap(({ name, src }) => Object.values(src).map((address) => [address, name])),
);

interface Probe {
  readonly family: Family;
  readonly client: Client;
  readonly target: Target;
  readonly packets: Packets;
}

/** What became of the packets of one client to one address. */
export interface Observation {
  readonly family: Family;
  /** The client's name. */
  readonly client: string;
  readonly target: Target;
  /** How many connections met an ICMP error or a reset. */
  readonly refused: number;
  /** What TCP servers sent, one for each connection that was answered. */
  readonly answers: readonly string[];
  readonly connections: readonly TrackedConnection[];
}

/** conntrack fails where it deletes nothing. */
const FORGET_UNESTABLISHED = `for family in ipv4 ipv6; do
  for protocol in udp sctp; do conntrack -D -f $family -p $protocol; done
  for state in SYN_SENT SYN_RECV FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE SYN_SENT2; do
    conntrack -D -f $family -p tcp --state $state
  done
done >/dev/null 2>&1 || true`;

/** Probes every address of every Service of the objects. Parameters as in `observe`. */
export async function probe(
  testbed: Testbed,
  objectsYaml: string,
  quietMs?: number,
): Promise<Record<Family, Verdicts>> {
  const verdicts: Record<Family, Record<string, Verdict>> = { ipv4: {}, ipv6: {} };
  const plans = { ipv4: planOf(objectsYaml, 'ipv4'), ipv6: planOf(objectsYaml, 'ipv6') };
  for (const each of await observe(testbed, plans, quietMs))
    verdicts[each.family][`${each.target.label} from ${each.client}`] = verdictOf(each);
  return verdicts;
}

/**
 * Sends packets from every client to every target, all at once: a tracked connection tells its client by its original source
 * address. Connections that were tracked before are forgotten, except those of TCP that are established, if they are to stay.
 * @param quietMs after so long without an answer there will be none. A TCP client that is rejected over IPv6 on one machine hears of it
 * by its second packet only, after a second: the first error arrives while the system call holds the socket
 */
export async function observe(
  testbed: Testbed,
  plans: Readonly<Record<Family, readonly Target[]>>,
  quietMs?: number,
  keepsEstablished = false,
): Promise<readonly Observation[]> {
  const probes = (['ipv4', 'ipv6'] as const).flatMap((family) => probesOf(plans[family], family));
  // First connections of one client may get different endpoints where they arrive on several processors at once.
  const sticky = probes.filter(({ target }) => target.sticky);
  await send(
    testbed,
    sticky.map((one) => ({ ...one, packets: { ...one.packets, n: 1 } })),
  );
  const kept = new Set<string>();
  if (keepsEstablished) {
    await testbed.node.run(['sh'], FORGET_UNESTABLISHED);
    for (const { original } of await trackedConnections(testbed.node)) kept.add(JSON.stringify(original));
  } else await testbed.node.run(['conntrack', '-F']);
  const received = await send(testbed, probes, quietMs);
  const tracked = await trackedConnections(testbed.node);
  const seen = groupByProbe(tracked.filter(({ original }) => !kept.has(JSON.stringify(original))));
  return probes.map((each) => ({
    family: each.family,
    client: each.client.name,
    target: each.target,
    ...received.get(each)!,
    connections: seen.get(keyOf(each.client.name, each.target)) ?? [],
  }));
}

/** What came back for each probe. */
async function send(
  testbed: Testbed,
  probes: readonly Probe[],
  quietMs?: number,
): Promise<ReadonlyMap<Probe, Pick<Observation, 'refused' | 'answers'>>> {
  const received = new Map<Probe, Pick<Observation, 'refused' | 'answers'>>();
  await Promise.all(
    (['pod', 'node', 'ext'] as const).map(async (name) => {
      const host: Host = testbed[name];
      const own = probes.filter(({ client }) => client.host === name);
      if (own.length === 0) return;
      const { refused, answers } = await host.send(
        own.map(({ packets }) => packets),
        quietMs,
      );
      own.forEach((each, position) =>
        received.set(each, { refused: refused[position]!, answers: answers[position]! }),
      );
    }),
  );
  return received;
}

function probesOf(plan: readonly Target[], family: Family): Probe[] {
  return clients
    .filter(({ src, host }) => src[family] !== undefined || host === 'node')
    .flatMap((client) =>
      plan
        .filter(({ dst }) => client.host === 'node' || !dst.startsWith('127.'))
        // The node's own packets would have to be those of SCTP before they are tracked.
        .filter(({ proto }) => client.host !== 'node' || proto !== 'sctp')
        .map((target) => ({ family, client, target, packets: packetsOf(client, target, family) })),
    );
}

function packetsOf({ binds, src }: Client, { dst, proto, port, n }: Target, family: Family): Packets {
  return { ...(binds ? { src: src[family]! } : {}), dst, proto, port, n };
}

function keyOf(
  client: string,
  { proto, dst, port }: { proto: string; dst: string; port: number | string },
): string {
  return `${client} ${proto} ${dst} ${port}`;
}

function groupByProbe(connections: readonly TrackedConnection[]): Map<string, TrackedConnection[]> {
  const groups = new Map<string, TrackedConnection[]>();
  for (const connection of connections) {
    const { src, dst, dport } = connection.original;
    const key = keyOf(clientBySource.get(src) ?? 'node', { proto: connection.proto, dst, port: dport });
    const group = groups.get(key);
    if (group) group.push(connection);
    else groups.set(key, [connection]);
  }
  return groups;
}

/** Whether a connection was sent on to an endpoint. */
export function isTranslated({ original, reply }: TrackedConnection): boolean {
  return reply.src !== original.dst || reply.sport !== original.dport;
}

function verdictOf({ client, target, refused, connections }: Observation): Verdict {
  const translated = connections.filter(isTranslated);
  if (translated.length === 0) return refused > 0 ? 'reject' : connections.length > 0 ? 'untouched' : 'drop';
  const to = [...new Set(translated.map(endpointOf))].sort();
  const rewritten = new Set(translated.map(isMasqueraded));
  const masq = rewritten.size === 1 ? [...rewritten][0]! : 'mixed';
  if (!target.sticky) return { to, masq };
  const sticky = to.length === 1;
  return { ...(sticky ? {} : { to }), ...(sticky && client === 'node' ? {} : { masq }), sticky };
}

/** Where a connection was sent on to: `10.0.0.1:80`, `[fd00::1]:80`. */
export function endpointOf({ reply: { src, sport } }: TrackedConnection): string {
  return src.includes(':') ? `[${src}]:${sport}` : `${src}:${sport}`;
}

/** Whether the endpoint sees another source address than the client's. */
export function isMasqueraded({ original, reply }: TrackedConnection): boolean {
  return reply.dst !== original.src;
}
