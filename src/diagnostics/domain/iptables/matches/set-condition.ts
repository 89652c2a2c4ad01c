import type { IpSet } from '../../../../domain/ipvs/ip-set.js';
import { getOrMake } from '../../../../domain/model/maps.js';
import { rangeOf, singleAddress, type AddressRange } from '../../compare/address-ranges.js';
import { cidrContains, parseCidr } from '../../../../domain/net/cidr.js';
import type { Watch } from '../../walk/watch.js';
import { protocolOf, type TablesCourse } from '../course.js';
import type { RuleOption } from '../rule-sections.js';
import type { Test } from './packet-conditions.js';

/** Match `set`: `--match-set NAME dst,src`. Undefined for an option that is not known. */
export function setCondition({ name, values }: RuleOption): Test | undefined {
  const [set = '', given = ''] = values;
  if (name !== '--match-set') return undefined;
  const ends = given.split(',');
  return (course, { sets, watch }) => {
    const found = sets.get(set);
    if (found && watch) watchMembers(found, ends, course, watch);
    return found && isMember(found, ends, course);
  };
}

/** Undefined where the source port would have to be known. */
function isMember(set: IpSet, ends: readonly string[], course: TablesCourse): boolean | undefined {
  const dimensions = dimensionsOf(set);
  const parts = dimensions.map((dimension, place) =>
    dimension === 'port' ? portOf(set, ends[place], course) : addressOf(ends[place], course),
  );
  if (parts.includes(undefined)) return undefined;
  if (!dimensions.includes('net')) return set.members.has(parts.join(','));
  return inSomeNetwork(set, parts.slice(0, -1).join(','), parts.at(-1)!);
}

/** What the answer would be for other sources: that of the members which are the same in all but their end. */
function watchMembers(set: IpSet, ends: readonly string[], course: TablesCourse, watch: Watch): void {
  const dimensions = dimensionsOf(set);
  const bySource = dimensions.map((_, place) => ends[place] === 'src');
  if (!bySource.includes(true) || course.source !== course.packet.source) return;
  if (bySource.indexOf(true) < dimensions.length - 1)
    return watch.unclear(`set ${set.name} has a part of the source before its end`);
  const start = dimensions
    .slice(0, -1)
    .map((dimension, place) =>
      dimension === 'port' ? portOf(set, ends[place], course) : addressOf(ends[place], course),
    );
  const ranges = getOrMake(RANGES, set, () => rangesByStart(set));
  for (const range of ranges.get(start.join(',')) ?? []) watch.source(range);
}

/** Of sets that were watched: what members that begin the same end with. */
const RANGES = new WeakMap<IpSet, ReadonlyMap<string, readonly AddressRange[]>>();

function rangesByStart({ members }: IpSet): ReadonlyMap<string, readonly AddressRange[]> {
  const ranges = new Map<string, AddressRange[]>();
  for (const member of members) {
    const comma = member.lastIndexOf(',');
    const end = member.slice(comma + 1);
    const network = parseCidr(end);
    const range = network ? rangeOf(network) : singleAddress(end);
    getOrMake(ranges, member.slice(0, Math.max(comma, 0)), () => []).push(range);
  }
  return ranges;
}

/** By type, of which there are few. */
const DIMENSIONS = new Map<string, readonly string[]>();

function dimensionsOf({ type }: IpSet): readonly string[] {
  return getOrMake(DIMENSIONS, type, () => type.slice(type.indexOf(':') + 1).split(','));
}

function addressOf(end: string | undefined, { source, destination }: TablesCourse): string {
  return end === 'src' ? source : destination;
}

function portOf({ type }: IpSet, end: string | undefined, course: TablesCourse): string | undefined {
  if (end !== 'dst') return undefined;
  return type === 'bitmap:port' ? String(course.port) : `${protocolOf(course)}:${course.port}`;
}

/** Members that end in a network; one of full length stands without its length. */
function inSomeNetwork({ members }: IpSet, start: string, address: string): boolean {
  for (const member of members) {
    if (!member.startsWith(`${start},`)) continue;
    const network = member.slice(start.length + 1);
    const cidr = parseCidr(network);
    if (cidr ? cidrContains(cidr, address) : network === address) return true;
  }
  return false;
}
