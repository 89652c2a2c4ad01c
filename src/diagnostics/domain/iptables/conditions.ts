import type { RuleOption, RuleSection } from './rule-sections.js';
import { addressBits, cidrContains, parseCidr, type Cidr } from '../../../domain/net/cidr.js';
import { rangeOf, type AddressRange, singleAddress } from '../compare/address-ranges.js';
import { PROTOCOL_NUMBERS, PROTOCOLS, type Protocol } from '../../../domain/model/service-port-name.js';
import { isLeaving, type PacketState, type Watch } from '../walk/packet-state.js';
import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { DeviceTowards } from '../walk/on-demand.js';

/** What reads the options of an extension. An option that it does not know is undefined. */
type Reader = (option: RuleOption) => Test | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  '': packetCondition,
  tcp: portCondition,
  udp: portCondition,
  sctp: portCondition,
  multiport: portCondition,
  conntrack: connectionCondition,
  state: connectionCondition,
  mark: (option) => markCondition(option, ({ mark }) => mark),
  connmark: (option) => markCondition(option, ({ connectionMark }) => connectionMark),
  addrtype: addressTypeCondition,
  set: setCondition,
  ipvs: virtualServerCondition,
  // Packets come in through ports of a bridge only where br_netfilter is on, which is not checked here.
  physdev: ({ name }) => (name.startsWith('--physdev-is-') ? () => false : undefined),
  pkttype:
    ({ values }) =>
    () =>
      values[0] === 'unicast',
};

const PROTOCOL_MATCHES: ReadonlySet<string> = new Set(['tcp', 'udp', 'sctp']);
/** They hold for every packet: they count it, or explain the rule. */
const ALWAYS: ReadonlySet<string> = new Set(['comment', 'nfacct']);

/** The conditions of one section of a rule. One that is not understood cannot be told. */
export function conditionsOf({ extension, options }: RuleSection): readonly Condition[] {
  if (ALWAYS.has(extension)) return [];
  const reader = READERS[extension];
  if (!reader) return [{ text: `-m ${extension}`, holds: () => undefined }];
  const own = PROTOCOL_MATCHES.has(extension)
    ? [{ text: `-m ${extension}`, holds: ofProtocol(extension) } satisfies Condition]
    : [];
  return [...own, ...options.map((option) => conditionOf(extension, option, reader(option)))];
}

function conditionOf(extension: string, option: RuleOption, test: Test | undefined): Condition {
  const { name, isNegated, values } = option;
  return {
    get text() {
      const words = [
        ...(extension === '' ? [] : ['-m', extension]),
        ...(isNegated ? ['!'] : []),
        name,
        ...values,
      ];
      return words.join(' ');
    },
    holds: (state, inputs) => negatedIf(isNegated, test?.(state, inputs)),
  };
}

/** What the answer of an option is, before it is negated. Undefined: it cannot be told. */
export type Test = (state: PacketState, inputs: ConditionInputs) => boolean | undefined;

const LOOPBACK = 'lo';

/** The conditions that need no extension. Undefined for one that is not known. */
function packetCondition({ name, values }: RuleOption): Test | undefined {
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
      return (state, inputs) => leavesThrough(value, state, inputs);
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
function inNetwork(text: string, addressOf: (state: PacketState) => string): Test | undefined {
  const network = networkOf(text);
  if (!network) return undefined;
  if (isOneAddress(network)) return (state) => addressOf(state) === network.address;
  return (state) => cidrContains(network, addressOf(state));
}

/** A test of the packet's source against a network, of which a watch is told. */
function watched(text: string, test: Test | undefined): Test | undefined {
  const network = networkOf(text);
  if (!network) return undefined;
  let range: AddressRange | undefined;
  return (state, inputs) => {
    if (state.source === state.packet.source) inputs.watch?.source((range ??= rangeOf(network)));
    return test?.(state, inputs);
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
  state: PacketState,
  { isLocal, deviceTowards }: ConditionInputs,
): boolean | undefined {
  const { destination } = state;
  if (!isLeaving(state)) return isInterface(pattern, '');
  if (isLocal(destination)) return isInterface(pattern, LOOPBACK);
  if (pattern === LOOPBACK) return false;
  const device = deviceTowards(destination);
  return device === undefined ? undefined : isInterface(pattern, device);
}

/** By name or number. */
function ofProtocol(text: string): (state: PacketState) => boolean {
  const meant = PROTOCOLS.find((each) => [each.toLowerCase(), String(PROTOCOL_NUMBERS[each])].includes(text));
  return ({ packet }) => packet.protocol === meant;
}

/** Match `conntrack`, and `state` before it. Undefined for an option that is not known. */
function connectionCondition({ name, values }: RuleOption): Test | undefined {
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
function markCondition(
  { name, values }: RuleOption,
  markOf: (state: PacketState) => number,
): Test | undefined {
  const { value, mask } = maskedNumber(values[0] ?? '');
  return name === '--mark' ? (state) => (markOf(state) & mask) >>> 0 === value : undefined;
}

/** `VALUE/MASK`, or a value alone, which counts as a whole. */
export function maskedNumber(text: string): { readonly value: number; readonly mask: number } {
  const [value = '', mask = '0xffffffff'] = text.split('/');
  return { value: Number(value), mask: Number(mask) };
}

/** Matches `tcp`, `udp`, `sctp`, `dccp`, `udplite` and `multiport`. The source port is not known. */
function portCondition({ name, values }: RuleOption): Test | undefined {
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
function virtualServerCondition({ name, values }: RuleOption): Test | undefined {
  const [value = ''] = values;
  switch (name) {
    case '--ipvs':
      return ({ virtualServer }) => virtualServer !== undefined;
    case '--vproto': {
      const isOfIt = ofProtocol(value);
      return (state) => state.virtualServer !== undefined && isOfIt(state);
    }
    case '--vaddr': {
      const contains = inNetwork(value, ({ virtualServer }) => virtualServer!.address);
      return contains && ((state, world) => state.virtualServer !== undefined && contains(state, world));
    }
    case '--vport':
      return ({ virtualServer }) => virtualServer?.port === Number(value);
    case '--vdir':
      return ({ virtualServer }) => virtualServer !== undefined && value === 'ORIGINAL';
    default:
      return undefined;
  }
}

/** Match `addrtype`. Undefined for an option that is not known. */
function addressTypeCondition({ name, values }: RuleOption): Test | undefined {
  const types = (values[0] ?? '').split(',');
  const ofAddress = (addressOf: (state: PacketState) => string): Test => {
    return (state, inputs) => isOfType(addressOf(state), types, inputs);
  };
  if (name === '--src-type') return ofAddress(({ source }) => source);
  if (name === '--dst-type') return ofAddress(({ destination }) => destination);
  return undefined;
}

const MULTICAST = /^(?:2(?:2[4-9]|3\d)\.|ff)/;

/** Broadcast addresses and routes that lead nowhere are not known, and no Service has such an address. */
function isOfType(
  address: string,
  types: readonly string[],
  { isLocal }: ConditionInputs,
): boolean | undefined {
  const type = isLocal(address) ? 'LOCAL' : MULTICAST.test(address) ? 'MULTICAST' : 'UNICAST';
  if (types.includes(type)) return true;
  return type !== 'UNICAST' || types.every((each) => KNOWN_TYPES.has(each)) ? false : undefined;
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(['LOCAL', 'MULTICAST', 'UNICAST']);

/** Match `set`: `--match-set NAME dst,src`. Undefined for an option that is not known. */
function setCondition({ name, values }: RuleOption): Test | undefined {
  const [set = '', given = ''] = values;
  if (name !== '--match-set') return undefined;
  const ends = given.split(',');
  return (state, { sets, watch }) => {
    const found = sets.get(set);
    if (found && watch) watchMembers(found, ends, state, watch);
    return found && isMember(found, ends, state);
  };
}

/** Undefined where the source port would have to be known. */
function isMember(set: IpSet, ends: readonly string[], state: PacketState): boolean | undefined {
  const dimensions = dimensionsOf(set);
  const parts = dimensions.map((dimension, place) =>
    dimension === 'port' ? portOf(set, ends[place], state) : addressOf(ends[place], state),
  );
  if (parts.includes(undefined)) return undefined;
  if (!dimensions.includes('net')) return set.members.has(parts.join(','));
  return inSomeNetwork(set, parts.slice(0, -1).join(','), parts.at(-1)!);
}

/** What the answer would be for other sources: that of the members which are the same in all but their end. */
function watchMembers(set: IpSet, ends: readonly string[], state: PacketState, watch: Watch): void {
  const dimensions = dimensionsOf(set);
  const bySource = dimensions.map((_, place) => ends[place] === 'src');
  if (!bySource.includes(true) || state.source !== state.packet.source) return;
  if (bySource.indexOf(true) < dimensions.length - 1)
    return watch.unclear(`set ${set.name} has a part of the source before its end`);
  const start = dimensions
    .slice(0, -1)
    .map((dimension, place) =>
      dimension === 'port' ? portOf(set, ends[place], state) : addressOf(ends[place], state),
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

function addressOf(end: string | undefined, { source, destination }: PacketState): string {
  return end === 'src' ? source : destination;
}

function portOf({ type }: IpSet, end: string | undefined, state: PacketState): string | undefined {
  if (end !== 'dst') return undefined;
  return type === 'bitmap:port' ? String(state.port) : `${protocolOf(state)}:${state.port}`;
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

/** What conditions need to know besides the packet. */
export interface ConditionInputs {
  readonly isLocal: (address: string) => boolean;
  /** An address of the node, of the packet's family. */
  readonly ownAddress: string;
  readonly deviceTowards: DeviceTowards;
  /** The IP sets that are known, by name. */
  readonly sets: ReadonlyMap<string, IpSet>;
  /** Whether the list of match `recent` holds the address. */
  readonly remembers: (list: string, address: string) => boolean;
  /** Missing: comparisons are not recorded. */
  readonly watch?: Watch | undefined;
}

function protocolOf({ packet }: PacketState): Lowercase<Protocol> {
  return LOWER_CASE[packet.protocol];
}

const LOWER_CASE: Readonly<Record<Protocol, Lowercase<Protocol>>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

/** One condition of a rule. */
export interface Condition {
  /** As the rule has it. */
  readonly text: string;
  /** Undefined: it cannot be told. */
  holds(state: PacketState, inputs: ConditionInputs): boolean | undefined;
}

/** Inverts the result if the rule requires it; unknown results stay unknown. */
export function negatedIf(isNegated: boolean, answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : answer !== isNegated;
}
