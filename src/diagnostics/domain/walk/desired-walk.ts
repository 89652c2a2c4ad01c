import type { Packet, PacketEnvironment, PacketPath } from '../trace/trace.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { getOrMake } from '../../../domain/model/maps.js';

/** Rules that packets can be sent through, any number of them. */
export interface Walk {
  /** Every path that the packet may have. Rejects with a typed error where the kernel does not answer a request. */
  walk(
    packet: Packet,
    environment: PacketEnvironment,
  ): readonly PacketPath[] | Promise<readonly PacketPath[]>;
}

/** Many traced packets concern the same entries. */
const COMPILED_KEPT = 100;

/** Follows packets through the desired rules. For each packet only the entries that concern it are compiled. */
export class DesiredWalk implements Walk {
  private readonly entries: ConcernedEntries;
  private readonly compiled = new Map<string, Promise<Walk>>();

  constructor(
    all: Iterable<ForwardingEntry>,
    private readonly compile: (entries: readonly ForwardingEntry[]) => Promise<Walk>,
  ) {
    this.entries = new ConcernedEntries(all);
  }

  async walk(packet: Packet, environment: PacketEnvironment): Promise<readonly PacketPath[]> {
    const entries = [...this.entries.of(packet)].sort((one, other) => (one.key < other.key ? -1 : 1));
    const keys = entries.map(({ key }) => key).join(' ');
    if (this.compiled.size === COMPILED_KEPT) this.compiled.clear();
    const rules = await getOrMake(this.compiled, keys, () => this.compile(entries));
    return rules.walk(packet, environment);
  }
}

/** Finds the few entries whose rules a packet may meet, so that only those need to be compiled to follow it. */
export class ConcernedEntries {
  private readonly byAddress = new Map<string, ForwardingEntry[]>();
  /** Node ports, and ports of health checks. */
  private readonly byPort = new Map<number, ForwardingEntry[]>();
  private readonly byLocalEndpoint = new Map<string, ForwardingEntry[]>();

  constructor(entries: Iterable<ForwardingEntry>) {
    for (const entry of entries) {
      for (const { address, port } of entry.frontends)
        if (address === undefined) put(this.byPort, port, entry);
        else put(this.byAddress, address, entry);
      for (const { isLocal, address } of entry.endpoints.reachable)
        if (isLocal) put(this.byLocalEndpoint, address, entry);
      if (entry.healthCheckNodePort !== 0) put(this.byPort, entry.healthCheckNodePort, entry);
    }
  }

  /**
   * Those whose rules look at the packet, before it is translated or after: at its destination, or at its source, which may be one of
   * their addresses too. The rules of other entries cannot match, so leaving them out changes nothing.
   */
  of({ source, destination, destinationPort: port }: Packet): ReadonlySet<ForwardingEntry> {
    const concerned = new Set(this.byLocalEndpoint.get(source) ?? []);
    for (const entry of [...this.at(destination, port), ...this.at(source, port)]) {
      concerned.add(entry);
      for (const endpoint of entry.endpoints.reachable)
        for (const behind of this.at(endpoint.address, endpoint.port)) concerned.add(behind);
    }
    return concerned;
  }

  private at(address: string, port: number): readonly ForwardingEntry[] {
    return [...(this.byAddress.get(address) ?? []), ...(this.byPort.get(port) ?? [])];
  }
}

function put<Key>(index: Map<Key, ForwardingEntry[]>, key: Key, entry: ForwardingEntry): void {
  getOrMake(index, key, () => []).push(entry);
}
