import { addressBits, cidrContains, parseCidr, type Cidr } from '../../../../domain/net/cidr.js';
import { rangeOf, type AddressRange } from '../../compare/address-ranges.js';
import { PROTOCOL_NUMBERS, PROTOCOLS } from '../../../../domain/model/service-port-name.js';
import { isLeaving } from '../../walk/course.js';
import type { TablesCourse, Surroundings } from '../course.js';
import type { RuleOption } from '../rule-sections.js';

/** What the answer of an option is, before it is negated. Undefined: it cannot be told. */
export type Test = (course: TablesCourse, surroundings: Surroundings) => boolean | undefined;

const LOOPBACK = 'lo';

/** The conditions that need no extension. Undefined for one that is not known. */
export function packetCondition({ name, values }: RuleOption): Test | undefined {
  const [value = ''] = values;
  switch (name) {
    case '-s':
      return watched(
        value,
        inNetwork(value, ({ source }) => source),
      );
    case '-d':
      return inNetwork(value, ({ destination }) => destination);
    case '-i':
      return ({ inputInterface }, { watch }) => {
        if (inputInterface !== '' && inputInterface !== LOOPBACK) watch?.inputInterface(value);
        return isInterface(value, inputInterface);
      };
    case '-o':
      return (course, surroundings) => leavesThrough(value, course, surroundings);
    case '-p':
      return ofProtocol(value);
    case '-f':
      // The first packet of a connection is no later fragment.
      return () => false;
    default:
      return undefined;
  }
}

/** Whether an address of the packet is in a network; undefined for a mask that is no prefix. */
export function inNetwork(text: string, addressOf: (course: TablesCourse) => string): Test | undefined {
  const network = networkOf(text);
  if (!network) return undefined;
  if (isOneAddress(network)) return (course) => addressOf(course) === network.address;
  return (course) => cidrContains(network, addressOf(course));
}

/** A test of the packet's source against a network, of which a watch is told. */
export function watched(text: string, test: Test | undefined): Test | undefined {
  const network = networkOf(text);
  if (!network) return undefined;
  let range: AddressRange | undefined;
  return (course, surroundings) => {
    if (course.source === course.packet.source) surroundings.watch?.source((range ??= rangeOf(network)));
    return test?.(course, surroundings);
  };
}

function networkOf(text: string): Cidr | undefined {
  return parseCidr(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
}

function isOneAddress({ family, prefixLength }: Cidr): boolean {
  return prefixLength === addressBits(family);
}

/** A name that ends in `+` is a prefix. */
function isInterface(pattern: string, name: string): boolean {
  return pattern.endsWith('+') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** Where routes are not known, it is still known that packets to the node itself take `lo`, and no others do. */
function leavesThrough(
  pattern: string,
  course: TablesCourse,
  { isLocal, deviceTowards }: Surroundings,
): boolean | undefined {
  const { destination } = course;
  if (!isLeaving(course)) return isInterface(pattern, '');
  if (isLocal(destination)) return isInterface(pattern, LOOPBACK);
  if (pattern === LOOPBACK) return false;
  const device = deviceTowards(destination);
  return device === undefined ? undefined : isInterface(pattern, device);
}

/** By name or number. */
export function ofProtocol(text: string): (course: TablesCourse) => boolean {
  const meant = PROTOCOLS.find((each) => [each.toLowerCase(), String(PROTOCOL_NUMBERS[each])].includes(text));
  return ({ packet }) => packet.protocol === meant;
}
