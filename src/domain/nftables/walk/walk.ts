import { isLoopback } from '../../net/address.js';
import type { ChainRules } from '../layout/node-rules.js';
import type { Ending } from './ending.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { Hook } from '../layout/table.js';
import type { TableContents } from '../text/table-contents.js';
import { ChainWalk } from './chain-walk.js';
import type { Course } from './course.js';
import { HookPath } from '../../walk/hook-path.js';

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
  const isLocal = (address: string): boolean =>
    environment.localAddresses.has(address) || isLoopback({ family: packet.family, text: address });
  const chains = new ChainWalk(table, packet.family, environment, isLocal);
  const baseChains = baseChainsOf(table);
  const path = new HookPath<Course>((hook, course, translates) => {
    let courses: readonly Course[] = [course];
    for (const { chain } of baseChains) {
      if (chain.hook.hook !== hook || (chain.hook.type === 'nat' && !translates)) continue;
      courses = courses.flatMap((each) => (each.verdict ? [each] : chains.base(chain.name, hook, each)));
    }
    return courses;
  }, isLocal);
  const courses = packet.inputInterface === undefined ? path.leave(start) : path.arrive(start);
  return courses.map(endingOf);
}

type BaseChain = ChainRules & { readonly chain: { readonly name: string; readonly hook: Hook } };

/** In the order in which packets meet them at a hook. */
function baseChainsOf(table: TableContents): readonly BaseChain[] {
  return [...table.chains.values()]
    .filter((chain): chain is BaseChain => !!chain.chain.hook)
    .sort((a, b) => a.chain.hook.priority - b.chain.hook.priority);
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
