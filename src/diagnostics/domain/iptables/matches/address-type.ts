import type { Surroundings, TablesCourse } from '../course.js';
import type { RuleOption } from '../rule-sections.js';
import type { Test } from './packet-conditions.js';

/** Match `addrtype`. Undefined for an option that is not known. */
export function addressTypeCondition({ name, values }: RuleOption): Test | undefined {
  const types = (values[0] ?? '').split(',');
  const ofAddress = (addressOf: (course: TablesCourse) => string): Test => {
    return (course, surroundings) => isOfType(addressOf(course), types, surroundings);
  };
  if (name === '--src-type') return ofAddress(({ source }) => source);
  if (name === '--dst-type') return ofAddress(({ destination }) => destination);
  return undefined;
}

const MULTICAST = /^(?:2(?:2[4-9]|3\d)\.|ff)/;

/** Broadcast addresses and routes that lead nowhere are not known, and no Service has such an address. */
function isOfType(address: string, types: readonly string[], { isLocal }: Surroundings): boolean | undefined {
  const type = isLocal(address) ? 'LOCAL' : MULTICAST.test(address) ? 'MULTICAST' : 'UNICAST';
  if (types.includes(type)) return true;
  return type !== 'UNICAST' || types.every((each) => KNOWN_TYPES.has(each)) ? false : undefined;
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(['LOCAL', 'MULTICAST', 'UNICAST']);
