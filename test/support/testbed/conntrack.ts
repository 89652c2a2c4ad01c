import type { Host } from './host.js';

/** One end of a connection, as its first packet or the first answer carries it. */
export interface Tuple {
  readonly src: string;
  readonly dst: string;
  readonly sport: string;
  readonly dport: string;
}

/** A connection the kernel tracks: what the client sent, and what the answer is expected to look like. */
export interface TrackedConnection {
  readonly proto: string;
  readonly original: Tuple;
  readonly reply: Tuple;
}

const tuple = 'src=(\\S+) dst=(\\S+) sport=(\\d+) dport=(\\d+)';
const entry = new RegExp(`^(tcp|udp|sctp) .*?${tuple} .*?${tuple}`);

/** All connections of TCP, UDP and SCTP the host tracks, of both families. */
export async function trackedConnections(host: Host): Promise<TrackedConnection[]> {
  const listings = await Promise.all(
    ['ipv4', 'ipv6'].map((family) => host.run(['conntrack', '-L', '-f', family])),
  );
  return listings.flatMap((listing) => listing.split('\n')).flatMap(parseEntry);
}

function parseEntry(line: string): TrackedConnection[] {
  const match = entry.exec(line);
  if (!match) return [];
  const [proto, ...fields] = match.slice(1) as [string, ...string[]];
  return [{ proto, original: tupleOf(fields.slice(0, 4)), reply: tupleOf(fields.slice(4)) }];
}

function tupleOf(fields: readonly string[]): Tuple {
  const [src, dst, sport, dport] = fields as [string, string, string, string];
  return { src, dst, sport, dport };
}
