/**
 * Expressions of nf_tables as the kernel lists them, those that a trace can follow. They read and write registers: 64 bytes, of which
 * each names a part by its first byte. Values that the kernel computes are in its own byte order, those of packets in the network's.
 */
export type Expression =
  | {
      readonly kind: 'payload';
      readonly to: number;
      readonly base: 'network' | 'transport';
      readonly offset: number;
      readonly length: number;
    }
  | { readonly kind: 'meta'; readonly to: number; readonly key: MetaKey }
  | { readonly kind: 'meta-set'; readonly from: number; readonly key: 'mark' | 'priority' }
  | { readonly kind: 'ct'; readonly to: number; readonly key: CtKey }
  | {
      readonly kind: 'fib';
      readonly to: number;
      readonly field: 'saddr' | 'daddr';
      readonly result: 'type' | 'exists';
    }
  | { readonly kind: 'cmp'; readonly from: number; readonly op: CompareOperator; readonly value: Uint8Array }
  | {
      readonly kind: 'range';
      readonly from: number;
      readonly inverted: boolean;
      readonly first: Uint8Array;
      readonly last: Uint8Array;
    }
  | {
      readonly kind: 'bitwise';
      readonly from: number;
      readonly to: number;
      readonly mask: Uint8Array;
      readonly xor: Uint8Array;
    }
  | {
      readonly kind: 'byteorder';
      readonly from: number;
      readonly to: number;
      readonly length: number;
      readonly size: number;
    }
  | {
      readonly kind: 'lookup';
      readonly set: string;
      readonly from: number;
      /** Where the value goes; a verdict is applied. Missing: only whether there is an element counts. */
      readonly to?: number | 'verdict';
      readonly inverted: boolean;
    }
  /** Adds or refreshes an element. */
  | {
      readonly kind: 'remember';
      readonly set: string;
      readonly from: number;
      /** 0 for none. */
      readonly timeoutSeconds: number;
    }
  /** A number that nobody can foresee: `numgen`, `symhash`, a hash whose seed the kernel keeps to itself. */
  | {
      readonly kind: 'random';
      readonly to: number;
      readonly modulus: number;
      readonly offset: number;
      /** One number after another. */
      readonly inTurn?: true;
    }
  /** `jhash`: a number by the bytes from a register on. */
  | {
      readonly kind: 'hash';
      readonly from: number;
      readonly length: number;
      readonly to: number;
      readonly modulus: number;
      readonly offset: number;
      readonly seed: number;
    }
  | { readonly kind: 'immediate'; readonly to: number; readonly value: Uint8Array }
  | { readonly kind: 'verdict'; readonly verdict: KernelVerdict }
  | {
      readonly kind: 'nat';
      readonly type: 'snat' | 'dnat';
      /** Registers of the address and the port. */
      readonly address?: number;
      readonly port?: number;
    }
  | { readonly kind: 'masquerade'; readonly fullyRandom: boolean }
  | { readonly kind: 'reject' }
  /** It lets the first packet of a connection go on to the next expression, and does nothing that matters: a counter, a log. */
  | { readonly kind: 'indifferent'; readonly name: string }
  /** The first packet of a connection does not exceed a limit. */
  | { readonly kind: 'limit'; readonly inverted: boolean }
  | { readonly kind: 'unknown'; readonly name: string };

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type MetaKey =
  | 'protocol'
  | 'priority'
  | 'mark'
  | 'iif'
  | 'oif'
  | 'iifname'
  | 'oifname'
  | 'nfproto'
  | 'l4proto';

export type CtKey =
  | 'state'
  | 'direction'
  | 'status'
  | 'mark'
  | 'original saddr'
  | 'original daddr'
  | 'original protocol'
  | 'original dport';

export interface KernelVerdict {
  readonly code: 'drop' | 'accept' | 'return' | 'continue' | 'jump' | 'goto' | 'queue';
  /** Of jumps. */
  readonly chain?: string;
}

/** Whether the expression may decide about the packet, if only by leading it on. */
export function isEffective({ kind }: Expression): boolean {
  return ['verdict', 'nat', 'masquerade', 'reject', 'meta-set', 'lookup', 'unknown'].includes(kind);
}
