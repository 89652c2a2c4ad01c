import { protocolOf, type TablesCourse } from '../course.js';
import type { RuleOption } from '../rule-sections.js';
import { inNetwork, isProtocol, watched, type Test } from './packet-conditions.js';

/** Match `conntrack`, and `state` before it. Undefined for an option that is not known. */
export function connectionCondition({ name, values }: RuleOption): Test | undefined {
  const [value = ''] = values;
  switch (name) {
    case '--ctstate':
    case '--state': {
      const states = value.split(',');
      return (course) => statesOf(course).some((state) => states.includes(state));
    }
    case '--ctproto':
      return (course) => isProtocol(value, course);
    case '--ctorigsrc':
      return watched(
        value,
        inNetwork(value, ({ packet }) => packet.source),
      );
    case '--ctorigdst':
      return inNetwork(value, ({ packet }) => packet.destination);
    case '--ctorigdstport':
      return ({ packet }) => inPortRange(value, packet.destinationPort);
    case '--ctdir':
      return () => value === 'ORIGINAL';
    default:
      return undefined;
  }
}

/** The first packet of a connection is new, whatever was done to its destination. No rule sees it after its source is rewritten. */
function statesOf({ isUntracked, isTranslated }: TablesCourse): readonly string[] {
  if (isUntracked) return UNTRACKED;
  return isTranslated ? TRANSLATED : NEW;
}

const UNTRACKED: readonly string[] = ['UNTRACKED'];
const NEW: readonly string[] = ['NEW'];
const TRANSLATED: readonly string[] = ['NEW', 'DNAT'];

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
  const hasPort = (course: TablesCourse) => value.split(',').some((range) => inPortRange(range, course.port));
  switch (name) {
    case '--dport':
    case '--dports':
      return hasPort;
    case '--ports':
      return (course) => hasPort(course) || undefined;
    case '--sport':
    case '--sports':
      return () => inPortRange(value, 'any');
    case '--tcp-flags':
      // The first packet of a connection has SYN and no other flag.
      return () => second === (/\b(?:SYN|ALL)\b/.test(value) ? 'SYN' : 'NONE');
    default:
      return undefined;
  }
}

/** `80` or `1024:65535`. For any port the answer is known only if all ports are meant. */
function inPortRange(text: string, port: number): boolean;
function inPortRange(text: string, port: 'any'): boolean | undefined;
function inPortRange(text: string, port: number | 'any'): boolean | undefined {
  const [low = '0', high = low] = text.split(':');
  if (port === 'any') return Number(low) <= 1 && Number(high) >= 65535 ? true : undefined;
  return port >= Number(low) && port <= Number(high);
}

/** Match `ipvs`: whether a virtual server took the packet, and which. */
export function virtualServerCondition({ name, values }: RuleOption): Test | undefined {
  const [value = ''] = values;
  switch (name) {
    case '--ipvs':
      return ({ virtualServer }) => virtualServer !== undefined;
    case '--vproto':
      return (course) => course.virtualServer !== undefined && isProtocol(value, course);
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

/** The protocol's own match holds for packets of that protocol only. */
export function ofProtocol(name: string): Test {
  return (course) => protocolOf(course) === name;
}
