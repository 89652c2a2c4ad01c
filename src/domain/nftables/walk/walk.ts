import type { ChainRules } from '../layout/node-rules.js';
import type { Ending } from './ending.js';
import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { Hook } from '../layout/table.js';
import type { TableContents } from '../text/table-contents.js';
import { ChainWalk } from './chain-walk.js';
import type { Course } from './course.js';
import { endingOf, startOf } from '../../walk/course.js';
import { HookPath, translating } from '../../walk/hook-path.js';
import { localTo } from '../../walk/local-addresses.js';

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
  const { protocol } = packet;
  const start: Course = { ...startOf(packet), protocol, priority: 0, remembers: [] };
  const isLocal = localTo(environment, packet);
  const chains = new ChainWalk(table, packet.family, environment, isLocal);
  const baseChains = baseChainsOf(table);
  const path = new HookPath<Course>((hook) => {
    const met = baseChains.filter(({ chain }) => chain.hook.hook === hook);
    return met.map(({ chain }) => {
      const station = (course: Course) => chains.base(chain.name, hook, course);
      return chain.hook.type === 'nat' ? translating(station) : station;
    });
  }, isLocal);
  return path.follow(start).map((course) => {
    const { mark, priority, remembers } = course;
    return { ...endingOf(course), sticky: remembers.length > 0, mark, priority, remembers };
  });
}

type BaseChain = ChainRules & { readonly chain: { readonly name: string; readonly hook: Hook } };

/** In the order in which packets meet them at a hook. */
function baseChainsOf(table: TableContents): readonly BaseChain[] {
  return [...table.chains.values()]
    .filter((chain): chain is BaseChain => !!chain.chain.hook)
    .sort((a, b) => a.chain.hook.priority - b.chain.hook.priority);
}
