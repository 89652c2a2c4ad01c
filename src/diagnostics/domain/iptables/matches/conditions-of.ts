import { negatedIf, type Condition } from '../condition.js';
import type { RuleOption, RuleSection } from '../rule-sections.js';
import { addressTypeCondition } from './address-type.js';
import {
  connectionCondition,
  markCondition,
  portCondition,
  virtualServerCondition,
} from './connection-conditions.js';
import { ofProtocol, packetCondition, type Test } from './packet-conditions.js';
import { setCondition } from './set-condition.js';

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
  // Packets come in through ports of a bridge only where br_netfilter is on, at which nobody looks here.
  physdev: ({ name }) => (name.startsWith('--physdev-is-') ? () => false : undefined),
  pkttype:
    ({ values }) =>
    () =>
      values[0] === 'unicast',
};

const PROTOCOLS: ReadonlySet<string> = new Set(['tcp', 'udp', 'sctp']);
/** They hold for every packet: they count it, or explain the rule. */
const ALWAYS: ReadonlySet<string> = new Set(['comment', 'nfacct']);

/** The conditions of one section of a rule. One that is not understood cannot be told. */
export function conditionsOf({ extension, options }: RuleSection): readonly Condition[] {
  if (ALWAYS.has(extension)) return [];
  const reader = READERS[extension];
  if (!reader) return [{ text: `-m ${extension}`, holds: () => undefined }];
  const own = PROTOCOLS.has(extension)
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
    holds: (course, surroundings) => negatedIf(isNegated, test?.(course, surroundings)),
  };
}
