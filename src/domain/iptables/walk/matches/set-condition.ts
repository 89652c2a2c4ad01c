import type { IpSet } from '../../../ipset/ip-set.js';
import { cidrContains, parseCidr } from '../../../net/cidr.js';
import { protocolOf, type TablesCourse } from '../course.js';
import type { RuleOption } from '../rule-sections.js';
import type { Test } from './packet-conditions.js';

/** Match `set`: `--match-set NAME dst,src`. Undefined for an option that is not known. */
export function setCondition({ name, values }: RuleOption): Test | undefined {
  const [set = '', ends = ''] = values;
  if (name !== '--match-set') return undefined;
  return (course, { sets }) => {
    const found = sets.get(set);
    return found && isMember(found, ends.split(','), course);
  };
}

/** Undefined where the source port would have to be known. */
function isMember(set: IpSet, ends: readonly string[], course: TablesCourse): boolean | undefined {
  const dimensions = set.type.slice(set.type.indexOf(':') + 1).split(',');
  const parts = dimensions.map((dimension, place) =>
    dimension === 'port' ? portOf(set, ends[place], course) : addressOf(ends[place], course),
  );
  if (parts.includes(undefined)) return undefined;
  if (!dimensions.includes('net')) return set.members.has(parts.join(','));
  return inSomeNetwork(set, parts.slice(0, -1).join(','), parts.at(-1)!);
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
