import type { Expression } from '../../../domain/nftables/kernel/ruleset.js';
import { hostWord } from '../../../domain/nftables/kernel/bytes.js';

/**
 * Extensions of iptables-nft, `-m NAME` and `-j NAME`, that kernels keep in structures of x_tables (linux/netfilter/xt_*.h, in the
 * byte order of the machine). They are read as the expressions of nf_tables that do the same, in registers that rules of iptables do
 * not use. Undefined for those that are not known, or have options that are not known.
 */
export function expressionsOfExtension(
  kind: 'match' | 'target',
  name: string,
  revision: number,
  info: Buffer,
): readonly Expression[] | undefined {
  const read = (kind === 'match' ? MATCHES : TARGETS)[`${name} ${revision}`];
  return read?.(info);
}

type Read = (info: Buffer) => readonly Expression[] | undefined;

/** The last sixteen bytes of the registers, and the sixteen before. */
const SCRATCH = 48;
const SCRATCH_ADDRESS = 32;
const RTN_LOCAL = 2;
const ADDRESS_TYPE = { LOCAL: 1 << 2, INVERT_SOURCE: 1, INVERT_DESTINATION: 2 } as const;
const CONNTRACK = { STATE: 1, REAL_STATES: 0xf } as const;
const PORTS = { INVERT_SOURCE: 1, INVERT_DESTINATION: 2 } as const;
const NAT_RANGE = { ADDRESSES: 1, PORTS: 2 } as const;

const comment: Read = () => [{ kind: 'indifferent', name: '' }];

const MATCHES: Readonly<Record<string, Read>> = {
  'comment 0': comment,
  'mark 1': (info) =>
    masked(
      { kind: 'meta', to: SCRATCH, key: 'mark' },
      info.subarray(4, 8),
      info.subarray(0, 4),
      info[8] !== 0,
    ),
  'conntrack 3'(info) {
    const [flags, inverted, states] = [146, 148, 150].map((offset) => info.readUInt16LE(offset));
    if (flags !== CONNTRACK.STATE || (states! & ~CONNTRACK.REAL_STATES) !== 0) return undefined;
    const nothing = Buffer.alloc(4);
    return masked({ kind: 'ct', to: SCRATCH, key: 'state' }, hostWord(states!), nothing, inverted === 0);
  },
  'addrtype 1'(info) {
    const [source, destination, flags] = [info.readUInt16LE(0), info.readUInt16LE(2), info.readUInt32LE(4)];
    const known = ADDRESS_TYPE.INVERT_SOURCE | ADDRESS_TYPE.INVERT_DESTINATION;
    const isKnown = [0, ADDRESS_TYPE.LOCAL].includes(source) && [0, ADDRESS_TYPE.LOCAL].includes(destination);
    if (!isKnown || (flags & ~known) !== 0) return undefined;
    return [
      ...(source === 0 ? [] : addressType('saddr', (flags & ADDRESS_TYPE.INVERT_SOURCE) !== 0)),
      ...(destination === 0 ? [] : addressType('daddr', (flags & ADDRESS_TYPE.INVERT_DESTINATION) !== 0)),
    ];
  },
  // The part after the ports selects by options and flags of TCP.
  'tcp 0': (info) => (info[8] === 0 && info[9] === 0 ? ports(info, info[11]!) : undefined),
  'udp 0': (info) => ports(info, info[8]!),
};

const TARGETS: Readonly<Record<string, Read>> = {
  'MASQUERADE 0': () => [{ kind: 'masquerade', fullyRandom: false }],
  'REJECT 0': () => [{ kind: 'reject' }],
  'LOG 0': () => [{ kind: 'indifferent', name: 'log' }],
  'MARK 2'(info) {
    const mask = Buffer.from(info.subarray(4, 8)).map((byte) => ~byte);
    return [
      { kind: 'meta', to: SCRATCH, key: 'mark' },
      { kind: 'bitwise', from: SCRATCH, to: SCRATCH, mask: Buffer.from(mask), xor: info.subarray(0, 4) },
      { kind: 'meta-set', from: SCRATCH, key: 'mark' },
    ];
  },
  'DNAT 2'(info) {
    const flags = info.readUInt32LE(0);
    const [first, last] = [info.subarray(4, 20), info.subarray(20, 36)];
    const [port, lastPort] = [info.subarray(36, 38), info.subarray(38, 40)];
    if (!first.equals(last) || !port.equals(lastPort)) return undefined;
    const hasPort = (flags & NAT_RANGE.PORTS) !== 0;
    if ((flags & NAT_RANGE.ADDRESSES) === 0) return undefined;
    const isIPv4 = first.subarray(4).every((byte) => byte === 0);
    return [
      { kind: 'immediate', to: SCRATCH_ADDRESS, value: isIPv4 ? first.subarray(0, 4) : first },
      ...(hasPort ? [{ kind: 'immediate', to: SCRATCH, value: port } as const] : []),
      { kind: 'nat', type: 'dnat', address: SCRATCH_ADDRESS, ...(hasPort && { port: SCRATCH }) },
    ];
  },
};

/** Loads a word and compares some of its bits. */
function masked(
  load: Expression,
  mask: Uint8Array,
  value: Uint8Array,
  inverted: boolean,
): readonly Expression[] {
  return [
    load,
    { kind: 'bitwise', from: SCRATCH, to: SCRATCH, mask, xor: Buffer.alloc(mask.length) },
    { kind: 'cmp', from: SCRATCH, op: inverted ? '!=' : '==', value },
  ];
}

function addressType(field: 'saddr' | 'daddr', inverted: boolean): readonly Expression[] {
  return [
    { kind: 'fib', to: SCRATCH, field, result: 'type' },
    { kind: 'cmp', from: SCRATCH, op: inverted ? '!=' : '==', value: hostWord(RTN_LOCAL) },
  ];
}

/** The ranges of ports with which the structures of both protocols begin. */
function ports(info: Buffer, inverted: number): readonly Expression[] {
  const range = (offset: number, at: number, isInverted: boolean): readonly Expression[] => {
    const [first, last] = [swapped(info, at), swapped(info, at + 2)];
    if (first.readUInt16BE(0) === 0 && last.readUInt16BE(0) === 0xffff && !isInverted) return [];
    return [
      { kind: 'payload', to: SCRATCH, base: 'transport', offset, length: 2 },
      { kind: 'range', from: SCRATCH, inverted: isInverted, first, last },
    ];
  };
  return [
    ...range(0, 0, (inverted & PORTS.INVERT_SOURCE) !== 0),
    ...range(2, 4, (inverted & PORTS.INVERT_DESTINATION) !== 0),
  ];
}

function swapped(info: Buffer, at: number): Buffer {
  return Buffer.from(info.subarray(at, at + 2)).swap16();
}
