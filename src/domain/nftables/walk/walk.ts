import { isLoopback } from '../../net/address.js';
import type { ChainRules } from '../layout/node-rules.js';
import type { Ending } from './ending.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { Hook } from '../layout/table.js';
import type { TableContents } from '../text/table-contents.js';
import { ChainWalk } from './chain-walk.js';
import type { Course } from './course.js';

/**
 * Sends a packet through the rules of a table, hook by hook, as the kernel would (docs/spec/nftables.md §7), and
 * returns every possible ending: where a rule picks a random number, all numbers are tried. The packet is the first of
 * its connection.
 * @throws MalformedTable when a rule names a chain or set that the table does not have
 */
export function walk(
  table: TableContents,
  packet: Packet,
  environment: PacketEnvironment,
): readonly Ending[] {
  const walks = new Walk(table, environment, packet.family);
  const start: Course = {
    source: packet.source,
    destination: packet.destination,
    port: packet.destinationPort,
    protocol: packet.protocol,
    inputInterface: packet.inputInterface ?? '',
    mark: 0,
    priority: 0,
    translated: false,
    masquerade: false,
    verdict: undefined,
    remembers: [],
    probability: 1,
    steps: [],
  };
  const courses = packet.inputInterface === undefined ? walks.leave(start) : walks.arrive(start);
  return courses.map(endingOf);
}

/** The base chains at each hook, and the order of the hooks. */
class Walk {
  private readonly baseChains: readonly (ChainRules & { readonly chain: { readonly hook: Hook } })[];
  private readonly chains: ChainWalk;

  constructor(
    table: TableContents,
    private readonly environment: PacketEnvironment,
    family: Packet['family'],
  ) {
    this.chains = new ChainWalk(table, family, environment, (address) => this.isLocal(address));
    this.baseChains = [...table.chains.values()]
      .filter((chain): chain is ChainRules & { chain: { name: string; hook: Hook } } => !!chain.chain.hook)
      .sort((a, b) => a.chain.hook.priority - b.chain.hook.priority);
  }

  /** A packet that comes in through an interface. */
  arrive(course: Course): readonly Course[] {
    return this.hook('prerouting', course, ['filter', 'nat']).flatMap((routed) =>
      this.isLocal(routed.destination) ? this.hook('input', routed) : this.forward(routed),
    );
  }

  /** A packet that the node itself sends. One to itself leaves through `lo` and comes in again, without another translation. */
  leave(course: Course): readonly Course[] {
    return this.hook('output', course)
      .flatMap((routed) => this.hook('postrouting', routed))
      .flatMap((sent) => (this.isLocal(sent.destination) ? this.receive(sent) : [sent]));
  }

  private receive(course: Course): readonly Course[] {
    if (course.verdict) return [course];
    return this.hook('prerouting', { ...course, inputInterface: 'lo' }, ['filter']).flatMap((come) =>
      this.hook('input', come, ['filter']),
    );
  }

  private forward(course: Course): readonly Course[] {
    return this.hook('forward', course).flatMap((forwarded) => this.hook('postrouting', forwarded));
  }

  private hook(
    hook: Hook['hook'],
    course: Course,
    types: readonly Hook['type'][] = ['filter', 'nat'],
  ): readonly Course[] {
    let courses: readonly Course[] = [course];
    for (const { chain } of this.baseChains) {
      if (chain.hook.hook !== hook || !types.includes(chain.hook.type)) continue;
      courses = courses.flatMap((each) => (each.verdict ? [each] : this.chains.base(chain.name, hook, each)));
    }
    return courses;
  }

  private isLocal(address: string): boolean {
    const family = address.includes(':') ? 'IPv6' : 'IPv4';
    return this.environment.localAddresses.has(address) || isLoopback({ family, text: address });
  }
}

function endingOf(course: Course): Ending {
  const { verdict, translated, destination, port, masquerade, mark, priority, remembers } = course;
  const { probability, steps } = course;
  const sticky = remembers.length > 0;
  const carried = { probability, masquerade, sticky, steps, mark, priority, remembers };
  if (verdict) return { verdict, ...carried };
  return translated
    ? { verdict: 'sent', endpoint: { address: destination, port }, ...carried }
    : { verdict: 'untouched', ...carried };
}
