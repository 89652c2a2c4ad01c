import type { TablesCourse } from '../course.js';
import type { RuleOption } from '../rule-sections.js';
import { inNetwork, ofProtocol, watched, type Test } from './packet-conditions.js';

/** Match `conntrack`, and `state` before it. Undefined for an option that is not known. */
export function connectionCondition({ name, values }: RuleOption): Test | undefined {
  const [value = ''] = values;
  switch (name) {
    case '--ctstate':
    case '--state':
      return stateTest(value.split(','));
    case '--ctproto':
      return ofProtocol(value);
    case '--ctorigsrc':
      return watched(
        value,
        inNetwork(value, ({ packet }) => packet.source),
      );
    case '--ctorigdst':
      return inNetwork(value, ({ packet }) => packet.destination);
    case '--ctorigdstport': {
      const hasPort = portTest(value);
      return ({ packet }) => hasPort(packet.destinationPort);
    }
    case '--ctdir':
      return () => value === 'ORIGINAL';
    default:
      return undefined;
  }
}

/** The first packet of a connection is new, whatever was done to its destination. No rule sees it after its source is rewritten. */
function stateTest(states: readonly string[]): Test {
  const isUntrackedMeant = states.includes('UNTRACKED');
  const isNewMeant = states.includes('NEW');
  const isTranslatedMeant = isNewMeant || states.includes('DNAT');
  return ({ isUntracked, isTranslated }) => {
    if (isUntracked) return isUntrackedMeant;
    return isTranslated ? isTranslatedMeant : isNewMeant;
  };
}

/** Match `mark` or `connmark`. */
export function markCondition(
  { name, values }: RuleOption,
  markOf: (course: TablesCourse) => number,
): Test | undefined {
  const { value, mask } = maskedNumber(values[0] ?? '');
  return name === '--mark' ? (course) => (markOf(course) & mask) >>> 0 === value : undefined;
}

/** `VALUE/MASK`, or a value alone, which counts as a whole. */
export function maskedNumber(text: string): { readonly value: number; readonly mask: number } {
  const [value = '', mask = '0xffffffff'] = text.split('/');
  return { value: Number(value), mask: Number(mask) };
}

/** Matches `tcp`, `udp`, `sctp`, `dccp`, `udplite` and `multiport`. The source port is not known. */
export function portCondition({ name, values }: RuleOption): Test | undefined {
  const [value = '', second = ''] = values;
  const hasPort = portTest(value);
  switch (name) {
    case '--dport':
    case '--dports':
      return ({ port }) => hasPort(port);
    case '--ports':
      return ({ port }) => hasPort(port) || undefined;
    case '--sport':
    case '--sports': {
      const [low, high] = portRange(value);
      // Any port may be the source's.
      return () => (low <= 1 && high >= 65535 ? true : undefined);
    }
    case '--tcp-flags':
      // The first packet of a connection has SYN and no other flag.
      return () => second === (/\b(?:SYN|ALL)\b/.test(value) ? 'SYN' : 'NONE');
    default:
      return undefined;
  }
}

/** Ports, or ranges of them, with commas between them. */
function portTest(text: string): (port: number) => boolean {
  const ranges = text.split(',').map(portRange);
  return (port) => ranges.some(([low, high]) => port >= low && port <= high);
}

/** `80` or `1024:65535`. */
function portRange(text: string): readonly [low: number, high: number] {
  const [low = '0', high = low] = text.split(':');
  return [Number(low), Number(high)];
}

/** Match `ipvs`: whether a virtual server took the packet, and which. */
export function virtualServerCondition({ name, values }: RuleOption): Test | undefined {
  const [value = ''] = values;
  switch (name) {
    case '--ipvs':
      return ({ virtualServer }) => virtualServer !== undefined;
    case '--vproto': {
      const isOfIt = ofProtocol(value);
      return (course) => course.virtualServer !== undefined && isOfIt(course);
    }
    case '--vaddr': {
      const contains = inNetwork(value, ({ virtualServer }) => virtualServer!.address);
      return contains && ((course, world) => course.virtualServer !== undefined && contains(course, world));
    }
    case '--vport':
      return ({ virtualServer }) => virtualServer?.port === Number(value);
    case '--vdir':
      return ({ virtualServer }) => virtualServer !== undefined && value === 'ORIGINAL';
    default:
      return undefined;
  }
}
