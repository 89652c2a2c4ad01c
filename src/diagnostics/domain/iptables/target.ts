import { parseAddress } from '../../../domain/net/address.js';
import {
  accepted,
  dropped,
  marked,
  nextRule,
  refused,
  sent,
  sourceRewritten,
  type Jump,
  type Turn,
} from '../walk/turn.js';
import type { Surroundings, TablesCourse } from './course.js';
import { maskedNumber } from './matches/connection-conditions.js';
import { hasOption, valueOf, type RuleSection, type RuleSections } from './rule-sections.js';

/** What a target does to a packet that it is applied to. */
export type Effect = (course: TablesCourse, surroundings: Surroundings) => Turn<TablesCourse>;

/** A chain, or an extension that is not known. */
export interface Destination {
  readonly verb: Jump<never>['verb'];
  readonly name: string;
}

export type Target = Effect | Destination;

/** Nothing that decides about the packet: it is counted, logged, or its header is changed where no rule looks. */
export const pass: Effect = nextRule;

const PASSING: ReadonlySet<string> = new Set(
  (
    'AUDIT CHECKSUM CLASSIFY CONNSECMARK DSCP ECN HL HMARK IDLETIMER LED LOG NFLOG RATEEST SECMARK SET TCPMSS TCPOPTSTRIP TEE ' +
    'TOS TRACE TTL ULOG'
  ).split(' '),
);

/** Reads the target of a rule. */
export function targetOf(target: RuleSections['target']): Target {
  if (!target || PASSING.has(target.extension)) return pass;
  const { extension: name, isGoto } = target;
  return EFFECTS.get(name)?.(target) ?? { verb: isGoto ? 'goto' : 'jump', name };
}

/** Reads the options of a target. Undefined where they are not understood. */
type Reader = (section: RuleSection) => Effect | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  ACCEPT: () => accepted,
  DROP: () => dropped,
  RETURN: () => (course) => ({ course, to: 'caller', effect: 'leaves this chain' }),
  REJECT(section) {
    const answer = valueOf(section, '--reject-with') ?? 'icmp-port-unreachable';
    return (course) => refused(course, answer);
  },
  DNAT: (section) => translation(valueOf(section, '--to-destination') ?? ''),
  REDIRECT: (section) => redirection(valueOf(section, '--to-ports')),
  SNAT(section) {
    const addresses = valueOf(section, '--to-source');
    return (course) => sourceRewritten(course, addresses ?? 'another address');
  },
  // With this address the node sends packets to itself; with which one elsewhere, routes decide.
  MASQUERADE:
    () =>
    (course, { isLocal }) => {
      const { destination } = course;
      return sourceRewritten(isLocal(destination) ? course.with({ source: destination }) : course);
    },
  MARK(section) {
    const change = markChange(section);
    return change && ((course) => marked(course, change(course.mark)));
  },
  CONNMARK: connectionMark,
  NOTRACK: () => untrack,
  CT: (section) => (hasOption(section, '--notrack') ? untrack : pass),
};
/** Chains may have the names of what every object has. */
const EFFECTS: ReadonlyMap<string, Reader> = new Map(Object.entries(READERS));

/** `10.0.0.1:80`, `[fd00::1]:80`, `10.0.0.1`, `[fd00::1]`, `:80`; no ranges. */
const DESTINATION = /^(?:\[([\da-f:.]+)\]|([\d.]+))?(?::(\d+))?$/i;

/** What is not given stays as it was. */
function translation(text: string): Effect | undefined {
  const whole = parseAddress(text)?.text;
  const [all, bracketed, dotted, port] = DESTINATION.exec(text) ?? [];
  if (!all && !whole) return undefined;
  const address = whole ?? bracketed ?? dotted;
  return (course) =>
    sent(course, address ?? course.destination, port === undefined ? course.port : Number(port));
}

/** Packets that come in get an address of their interface, which one is not known; those of the node itself get loopback. */
function redirection(text: string | undefined): Effect | undefined {
  if (text !== undefined && !/^\d+$/.test(text)) return undefined;
  return (course, { ownAddress }) => {
    const loopback = course.packet.family === 'IPv4' ? '127.0.0.1' : '::1';
    const port = text === undefined ? course.port : Number(text);
    const turn = sent(course, course.inputInterface === '' ? loopback : ownAddress, port);
    return { ...turn, effect: `redirected to port ${port} of this node` };
  };
}

/** New value: the old one without the bits of the mask, which are then flipped where the value has them. */
function markChange(section: RuleSection): ((mark: number) => number) | undefined {
  const text = valueOf(section, '--set-xmark') ?? valueOf(section, '--set-mark');
  if (text === undefined) return undefined;
  const { value, mask: bits } = maskedNumber(text);
  return (mark) => ((mark & ~bits) ^ value) >>> 0;
}

function connectionMark(section: RuleSection): Effect | undefined {
  const mask = valueOf(section, '--mask') ?? '0xffffffff';
  const ofPacket = Number(valueOf(section, '--nfmask') ?? mask);
  const ofConnection = Number(valueOf(section, '--ctmask') ?? mask);
  const keep = (course: TablesCourse, mark: number) => nextRule(course.with({ connectionMark: mark >>> 0 }));
  if (hasOption(section, '--save-mark'))
    return (course) => keep(course, (course.connectionMark & ~ofConnection) ^ (course.mark & ofPacket));
  if (hasOption(section, '--restore-mark'))
    return (course) =>
      marked(course, ((course.mark & ~ofPacket) ^ (course.connectionMark & ofConnection)) >>> 0);
  const change = markChange(section);
  return change && ((course) => keep(course, change(course.connectionMark)));
}

function untrack(course: TablesCourse): Turn<TablesCourse> {
  const effect = 'not tracked, so that table nat leaves it alone';
  return { course: course.with({ isUntracked: true }), to: 'rule', effect };
}
