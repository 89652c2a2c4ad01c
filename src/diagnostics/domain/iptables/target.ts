import { parseAddress } from '../../../domain/net/address.js';
import {
  accepted,
  dropped,
  marked,
  nextRule,
  rejected,
  sent,
  sourceRewritten,
  type Jump,
  type RuleResult,
} from '../walk/chain-walk.js';
import { type ConditionInputs, maskedNumber } from './conditions.js';
import type { PacketState } from '../walk/packet-state.js';
import { hasOption, valueOf, type RuleSection, type RuleSections } from './rule-sections.js';

/** What a target does to a packet that it is applied to. */
export type Effect = (state: PacketState, inputs: ConditionInputs) => RuleResult<PacketState>;

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
  RETURN: () => (state) => ({ state, to: 'caller', effect: 'leaves this chain' }),
  REJECT(section) {
    const answer = valueOf(section, '--reject-with') ?? 'icmp-port-unreachable';
    return (state) => rejected(state, answer);
  },
  DNAT: (section) => translation(valueOf(section, '--to-destination') ?? ''),
  REDIRECT: (section) => redirection(valueOf(section, '--to-ports')),
  SNAT(section) {
    const addresses = valueOf(section, '--to-source');
    return (state) => sourceRewritten(state, addresses ?? 'another address');
  },
  // With this address the node sends packets to itself; with which one elsewhere, routes decide.
  MASQUERADE:
    () =>
    (state, { isLocal }) => {
      const { destination } = state;
      return sourceRewritten(isLocal(destination) ? state.with({ source: destination }) : state);
    },
  MARK(section) {
    const change = markChange(section);
    return change && ((state) => marked(state, change(state.mark)));
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
  return (state) => sent(state, address ?? state.destination, port === undefined ? state.port : Number(port));
}

/** Packets that come in get an address of their interface, which one is not known; those of the node itself get loopback. */
function redirection(text: string | undefined): Effect | undefined {
  if (text !== undefined && !/^\d+$/.test(text)) return undefined;
  return (state, { ownAddress }) => {
    const loopback = state.packet.family === 'IPv4' ? '127.0.0.1' : '::1';
    const port = text === undefined ? state.port : Number(text);
    const result = sent(state, state.inputInterface === '' ? loopback : ownAddress, port);
    return { ...result, effect: `redirected to port ${port} of this node` };
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
  const keep = (state: PacketState, mark: number) => nextRule(state.with({ connectionMark: mark >>> 0 }));
  if (hasOption(section, '--save-mark'))
    return (state) => keep(state, (state.connectionMark & ~ofConnection) ^ (state.mark & ofPacket));
  if (hasOption(section, '--restore-mark'))
    return (state) => marked(state, ((state.mark & ~ofPacket) ^ (state.connectionMark & ofConnection)) >>> 0);
  const change = markChange(section);
  return change && ((state) => keep(state, change(state.connectionMark)));
}

function untrack(state: PacketState): RuleResult<PacketState> {
  const effect = 'not tracked, so that table nat leaves it alone';
  return { state: state.with({ isUntracked: true }), to: 'rule', effect };
}
