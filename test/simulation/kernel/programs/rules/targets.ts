import {
  must,
  type Extension,
  type ExtensionOption,
  type Given,
  type RuleContext,
  ParameterProblem,
  quoted,
} from './extension.js';
import { hexadecimal, maskedOf, placeText, wordOf } from './values.js';
const flag: ExtensionOption = { words: 0 };
const WITH_PORTS = ['tcp', 'udp', 'sctp'];
const place: ExtensionOption = {
  read([text], { family, protocol }) {
    const { text: printed, hasPort } = placeText(text!, family);
    if (hasPort && !WITH_PORTS.includes(protocol ?? ''))
      throw new ParameterProblem('Need TCP, UDP, SCTP or DCCP with port specification');
    return printed;
  },
};
const toPorts: ExtensionOption = {
  read([text], { protocol }) {
    if (!WITH_PORTS.includes(protocol ?? ''))
      throw new ParameterProblem('Need TCP, UDP, SCTP or DCCP with port specification');
    return text!;
  },
};
const REJECT_TYPES: Readonly<Record<'IPv4' | 'IPv6', readonly string[]>> = {
  IPv4: [
    'icmp-port-unreachable',
    'icmp-net-unreachable',
    'icmp-host-unreachable',
    'icmp-admin-prohibited',
    'tcp-reset',
  ],
  IPv6: [
    'icmp6-port-unreachable',
    'icmp6-no-route',
    'icmp6-adm-prohibited',
    'icmp6-addr-unreachable',
    'tcp-reset',
  ],
};
const ALL_BITS = 0xffffffff;

/** A way to set the mark, which is printed as `--set-xmark`. */
function marking(
  option: string,
  change: (value: number, mask: number) => readonly [number, number],
): ExtensionOption {
  return {
    as: 'set-xmark',
    read([text]) {
      const [value, mask] = text!.includes('/')
        ? maskedOf(text!, 'MARK', option)
        : [wordOf(text!, 'MARK', option), ALL_BITS];
      return change(value, mask)
        .map((number) => hexadecimal(number))
        .join('/');
    },
  };
}

function finishReject(given: Given, { family }: RuleContext): void {
  if (!given.has('reject-with'))
    given.set('reject-with', { value: REJECT_TYPES[family][0]!, isNegated: false });
}

function finishConnmark(given: Given): void {
  if (!given.has('restore-mark') && !given.has('save-mark')) return;
  for (const option of ['nfmask', 'ctmask'])
    if (!given.has(option)) given.set(option, { value: hexadecimal(ALL_BITS), isNegated: false });
}

const ALL: readonly Extension[] = [
  {
    name: 'REJECT',
    table: 'filter',
    options: {
      'reject-with': {
        read([type], { family }) {
          if (!REJECT_TYPES[family].includes(type!))
            throw new ParameterProblem(`unknown reject type "${type}"`);
          return type!;
        },
      },
    },
    finish: finishReject,
  },
  {
    name: 'DNAT',
    table: 'nat',
    hooks: ['PREROUTING', 'OUTPUT'],
    options: { 'to-destination': place, random: flag, persistent: flag },
    finish: (given) => must('DNAT', given, 'to-destination'),
  },
  {
    name: 'SNAT',
    table: 'nat',
    hooks: ['POSTROUTING', 'INPUT'],
    options: { 'to-source': place, random: flag, 'random-fully': flag, persistent: flag },
    finish: (given) => must('SNAT', given, 'to-source'),
  },
  {
    name: 'MASQUERADE',
    table: 'nat',
    hooks: ['POSTROUTING'],
    options: { 'to-ports': toPorts, random: flag, 'random-fully': flag },
  },
  {
    name: 'REDIRECT',
    table: 'nat',
    hooks: ['PREROUTING', 'OUTPUT'],
    options: { 'to-ports': toPorts, random: flag },
  },
  {
    name: 'MARK',
    options: {
      'set-xmark': marking('set-xmark', (value, mask) => [value, mask]),
      'set-mark': marking('set-mark', (value, mask) => [value, value | mask]),
      'or-mark': marking('or-mark', (value) => [value, value]),
      'and-mark': marking('and-mark', (value) => [0, ~value]),
      'xor-mark': marking('xor-mark', (value) => [value, 0]),
    },
    finish(given) {
      if (!given.has('set-xmark'))
        throw new ParameterProblem(
          'MARK: One of the --set-xmark, --{and,or,xor,set}-mark options is required',
        );
    },
  },
  {
    name: 'CONNMARK',
    options: { 'set-xmark': {}, 'restore-mark': flag, 'save-mark': flag, nfmask: {}, ctmask: {} },
    finish: finishConnmark,
  },
  { name: 'LOG', options: { 'log-prefix': { read: ([text]) => quoted(text!) }, 'log-level': {} } },
  { name: 'TCPMSS', table: 'mangle', options: { 'set-mss': {}, 'clamp-mss-to-pmtu': flag } },
  { name: 'CT', table: 'raw', options: { notrack: flag, zone: {} } },
];

export const TARGETS: ReadonlyMap<string, Extension> = new Map(ALL.map((target) => [target.name, target]));

/** What the kernel itself does with a packet. */
export const VERDICTS: ReadonlySet<string> = new Set(['ACCEPT', 'DROP', 'RETURN', 'QUEUE']);
