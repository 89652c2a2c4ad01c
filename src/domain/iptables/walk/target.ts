import { parseAddress } from '../../net/address.js';
import { maskedNumber } from './matches/connection-conditions.js';
import { hasOption, valueOf, type RuleSection, type RuleSections } from './rule-sections.js';

/** What a rule does with packets. */
export type Target =
  /** Nothing that decides about the packet: it is counted, logged, or its header is changed where no rule looks. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'accept' | 'drop' | 'return' }
  | { readonly kind: 'reject'; readonly answer: string }
  /** Both undefined: as they were. */
  | { readonly kind: 'dnat'; readonly address: string | undefined; readonly port: number | undefined }
  /** To this machine itself. */
  | { readonly kind: 'redirect'; readonly port: number | undefined }
  | { readonly kind: 'masquerade' }
  | { readonly kind: 'snat'; readonly addresses: string }
  /** New value: the old one without the bits of the mask, which are then flipped where the value has them. */
  | { readonly kind: 'mark'; readonly value: number; readonly mask: number }
  | { readonly kind: 'mark-connection'; readonly value: number; readonly mask: number }
  | {
      readonly kind: 'save-mark' | 'restore-mark';
      /** Of the packet's mark, and of the connection's. */
      readonly packetMask: number;
      readonly connectionMask: number;
    }
  | { readonly kind: 'untrack' }
  /** A chain, or an extension that is not known. */
  | { readonly kind: 'other'; readonly name: string; readonly isGoto: boolean; readonly options: number };

const PASSING: ReadonlySet<string> = new Set(
  [
    'AUDIT',
    'CHECKSUM',
    'CLASSIFY',
    'CONNSECMARK',
    'DSCP',
    'ECN',
    'HL',
    'HMARK',
    'IDLETIMER',
    'LED',
    'LOG',
  ].concat([
    'NFLOG',
    'RATEEST',
    'SECMARK',
    'SET',
    'TCPMSS',
    'TCPOPTSTRIP',
    'TEE',
    'TOS',
    'TRACE',
    'TTL',
    'ULOG',
  ]),
);
const ALL_BITS = '0xffffffff';
/** `10.0.0.1:80`, `[fd00::1]:80`, `10.0.0.1`, `[fd00::1]`, `:80`; no ranges. */
const DESTINATION = /^(?:\[([\da-f:.]+)\]|([\d.]+))?(?::(\d+))?$/i;

/** Reads the target of a rule. One that is not understood is `other`. */
export function targetOf(target: RuleSections['target']): Target {
  if (!target || PASSING.has(target.extension)) return { kind: 'pass' };
  const { extension: name, isGoto, options } = target;
  return known(name, target) ?? { kind: 'other', name, isGoto, options: options.length };
}

function known(name: string, section: RuleSection): Target | undefined {
  switch (name) {
    case 'ACCEPT':
      return { kind: 'accept' };
    case 'DROP':
      return { kind: 'drop' };
    case 'RETURN':
      return { kind: 'return' };
    case 'REJECT':
      return { kind: 'reject', answer: valueOf(section, '--reject-with') ?? 'icmp-port-unreachable' };
    case 'DNAT':
      return destinationOf(valueOf(section, '--to-destination') ?? '');
    case 'REDIRECT':
      return redirectionOf(valueOf(section, '--to-ports'));
    case 'MASQUERADE':
      return { kind: 'masquerade' };
    case 'SNAT':
      return { kind: 'snat', addresses: valueOf(section, '--to-source') ?? 'another address' };
    case 'MARK':
      return markOf('mark', section);
    case 'CONNMARK':
      return connectionMarkOf(section);
    case 'NOTRACK':
      return { kind: 'untrack' };
    case 'CT':
      return { kind: hasOption(section, '--notrack') ? 'untrack' : 'pass' };
    default:
      return undefined;
  }
}

function destinationOf(text: string): Target | undefined {
  const address = parseAddress(text);
  if (address) return { kind: 'dnat', address: address.text, port: undefined };
  const [all, bracketed, dotted, port] = DESTINATION.exec(text) ?? [];
  if (!all) return undefined;
  return { kind: 'dnat', address: bracketed ?? dotted, port: port === undefined ? undefined : Number(port) };
}

function redirectionOf(text: string | undefined): Target | undefined {
  if (text !== undefined && !/^\d+$/.test(text)) return undefined;
  return { kind: 'redirect', port: text === undefined ? undefined : Number(text) };
}

function markOf(kind: 'mark' | 'mark-connection', section: RuleSection): Target | undefined {
  const text = valueOf(section, '--set-xmark') ?? valueOf(section, '--set-mark');
  return text === undefined ? undefined : { kind, ...maskedNumber(text) };
}

function connectionMarkOf(section: RuleSection): Target | undefined {
  const kind = hasOption(section, '--save-mark')
    ? 'save-mark'
    : hasOption(section, '--restore-mark')
      ? 'restore-mark'
      : undefined;
  if (!kind) return markOf('mark-connection', section);
  const mask = valueOf(section, '--mask') ?? ALL_BITS;
  return {
    kind,
    packetMask: Number(valueOf(section, '--nfmask') ?? mask),
    connectionMask: Number(valueOf(section, '--ctmask') ?? mask),
  };
}
