import {
  must,
  type Extension,
  type ExtensionOption,
  type Given,
  ParameterProblem,
  quoted,
} from './extension.js';
import { hexadecimal, maskedOf, portRange, portText } from './values.js';
const flag: ExtensionOption = { words: 0 };
const negatable: ExtensionOption = { mayBeNegated: true };
const ports = (fullName: string): ExtensionOption => ({
  mayBeNegated: true,
  fullName,
  read: ([text]) => portRange(text!),
});
const PORT_OPTIONS = {
  sport: ports('source-port'),
  dport: ports('destination-port'),
  'source-port': { ...ports('source-port'), as: 'sport' },
  'destination-port': { ...ports('destination-port'), as: 'dport' },
};
const listOf = (known: readonly string[], complain: (name: string) => string): ExtensionOption => ({
  mayBeNegated: true,
  read: ([text]) => {
    const names = text!.split(',').map((name) => name.toUpperCase());
    const wrong = names.find((name) => !known.includes(name));
    if (wrong !== undefined) throw new ParameterProblem(complain(wrong));
    return known.filter((name) => names.includes(name)).join(',');
  },
});
/** In the order in which they are printed. */
const STATES = ['INVALID', 'NEW', 'RELATED', 'ESTABLISHED', 'UNTRACKED', 'SNAT', 'DNAT'];
const ADDRESS_TYPES = listOf(
  ['UNSPEC', 'UNICAST', 'LOCAL', 'BROADCAST', 'ANYCAST', 'MULTICAST', 'BLACKHOLE', 'UNREACHABLE', 'PROHIBIT'],
  (name) => `addrtype: bad type "${name}"`,
);
const MASKED = (extension: string): ExtensionOption => ({
  mayBeNegated: true,
  read([text]) {
    const [value, mask] = maskedOf(text!, extension, 'mark');
    return mask === 0xffffffff ? hexadecimal(value) : `${hexadecimal(value)}/${hexadecimal(mask)}`;
  },
});
/** It is printed as a number. */
const VIRTUAL_PROTOCOLS: Readonly<Record<string, string>> = { tcp: '6', udp: '17', sctp: '132' };
const UNIT = 0x80000000;
/** XT_MAX_COMMENT_LEN, less the final zero. */
const MAX_COMMENT_BYTES = 255;

function finishRecent(given: Given, family: 'IPv4' | 'IPv6'): void {
  const ways = ['set', 'rcheck', 'update', 'remove'].filter((way) => given.has(way));
  if (ways.length === 0)
    throw new ParameterProblem(
      "recent: you must specify one of `--set', `--rcheck' `--update' or `--remove'",
    );
  const [first, second] = ways;
  if (second !== undefined)
    throw new ParameterProblem(`recent: option "--${first}" cannot be used together with "--${second}".\n`);
  const put = (option: string, value: string): void => {
    if (!given.has(option)) given.set(option, { value, isNegated: false });
  };
  put('name', 'DEFAULT');
  put('mask', family === 'IPv4' ? '255.255.255.255' : 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
  if (!given.has('rdest')) put('rsource', '');
}

function readMatchSet(
  [name, directions]: readonly string[],
  setFamily: string | undefined,
  family: string,
): string {
  if (setFamily === undefined) throw new ParameterProblem(`Set ${name} doesn't exist.\n`);
  if (setFamily !== 'any' && setFamily !== family)
    throw new ParameterProblem(
      `The protocol family of set ${name} is ${setFamily}, which is not applicable.\n`,
    );
  const read = directions!.split(',').map((direction) => {
    if (direction.startsWith('src')) return 'src';
    if (direction.startsWith('dst')) return 'dst';
    throw new ParameterProblem(`You must spececify (the comma separated list of) 'src' or 'dst'.`);
  });
  return `${name} ${read.join(',')}`;
}

const ALL: readonly Extension[] = [
  {
    name: 'tcp',
    protocol: 'tcp',
    options: {
      ...PORT_OPTIONS,
      'tcp-flags': { words: 2, mayBeNegated: true },
      'tcp-option': negatable,
      syn: { words: 0, mayBeNegated: true, as: 'tcp-flags', read: () => 'FIN,SYN,RST,ACK SYN' },
    },
  },
  { name: 'udp', protocol: 'udp', options: PORT_OPTIONS },
  { name: 'sctp', protocol: 'sctp', options: PORT_OPTIONS },
  {
    name: 'comment',
    options: {
      comment: { read: ([text]) => quoted(Buffer.from(text!).subarray(0, MAX_COMMENT_BYTES).toString()) },
    },
    finish: (given) => must('comment', given, 'comment'),
  },
  {
    name: 'conntrack',
    options: {
      ctstate: listOf(STATES, (name) => `Bad ctstate "${name}"`),
      ctproto: negatable,
      ctorigsrc: negatable,
      ctorigdst: negatable,
      ctreplsrc: negatable,
      ctorigdstport: negatable,
      ctstatus: negatable,
      ctdir: {},
    },
  },
  { name: 'state', options: { state: listOf(STATES, (name) => `Bad state "${name}"`) } },
  { name: 'mark', options: { mark: MASKED('mark') }, finish: (given) => must('mark', given, 'mark') },
  {
    name: 'connmark',
    options: { mark: MASKED('connmark') },
    finish: (given) => must('connmark', given, 'mark'),
  },
  {
    name: 'statistic',
    options: {
      mode: {},
      probability: {
        mayBeNegated: true,
        read([text]) {
          const value = Number(text);
          if (!(value >= 0 && value <= 1))
            throw new ParameterProblem(
              'statistic: bad value for option "--probability", or out of range (0-1).\n',
            );
          return (Math.round(UNIT * value) / UNIT).toFixed(11);
        },
      },
      every: negatable,
      packet: {},
    },
    finish: (given) => must('statistic', given, 'mode'),
  },
  {
    name: 'recent',
    options: {
      set: { words: 0, mayBeNegated: true },
      rcheck: { words: 0, mayBeNegated: true },
      update: { words: 0, mayBeNegated: true },
      remove: { words: 0, mayBeNegated: true },
      seconds: {},
      reap: flag,
      hitcount: {},
      rttl: flag,
      name: {},
      mask: {},
      rsource: flag,
      rdest: flag,
    },
    finish: (given, { family }) => finishRecent(given, family),
  },
  {
    name: 'addrtype',
    options: {
      'src-type': ADDRESS_TYPES,
      'dst-type': ADDRESS_TYPES,
      'limit-iface-in': flag,
      'limit-iface-out': flag,
    },
    finish(given) {
      if (!given.has('src-type') && !given.has('dst-type'))
        throw new ParameterProblem('addrtype: you must specify --src-type or --dst-type');
    },
  },
  {
    name: 'nfacct',
    options: { 'nfacct-name': {} },
    finish: (given) => must('nfacct', given, 'nfacct-name'),
  },
  {
    name: 'set',
    options: {
      'match-set': {
        words: 2,
        mayBeNegated: true,
        read: (words, { family, setFamily }) => readMatchSet(words, setFamily(words[0]!), family),
      },
    },
  },
  {
    name: 'multiport',
    options: Object.fromEntries(
      ['sports', 'dports', 'ports'].map((option) => [
        option,
        {
          mayBeNegated: true,
          read([text], { protocol }) {
            if (!['tcp', 'udp', 'sctp'].includes(protocol ?? ''))
              throw new ParameterProblem(
                "multiport needs `-p tcp', `-p udp', `-p udplite', `-p sctp' or `-p dccp'",
              );
            return text!
              .split(',')
              .map((part) => part.split(':').map(portText).join(':'))
              .join(',');
          },
        } satisfies ExtensionOption,
      ]),
    ),
  },
  {
    name: 'ipvs',
    options: {
      vproto: { mayBeNegated: true, read: ([text]) => VIRTUAL_PROTOCOLS[text!] ?? text! },
      vaddr: negatable,
      vport: negatable,
      ipvs: { words: 0, mayBeNegated: true },
    },
  },
  {
    name: 'physdev',
    options: {
      'physdev-in': negatable,
      'physdev-is-in': { words: 0, mayBeNegated: true },
      'physdev-out': negatable,
      'physdev-is-out': { words: 0, mayBeNegated: true },
      'physdev-is-bridged': { words: 0, mayBeNegated: true },
    },
  },
  { name: 'limit', options: { limit: {}, 'limit-burst': {} } },
  { name: 'icmp', protocol: 'icmp', options: { 'icmp-type': negatable } },
  { name: 'icmp6', protocol: 'ipv6-icmp', options: { 'icmpv6-type': negatable } },
];

export const MATCHES: ReadonlyMap<string, Extension> = new Map(ALL.map((match) => [match.name, match]));
