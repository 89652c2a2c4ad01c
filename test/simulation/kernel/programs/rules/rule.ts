import type { Extension } from './extension.js';

/** A rule that a tool has understood. */
export interface Rule {
  /** As iptables-save prints it behind `-A CHAIN `. */
  readonly text: string;
  readonly target: string | undefined;
  /** The target, where it is no extension: a chain that must be there. */
  readonly chain: string | undefined;
  readonly isGoto: boolean;
  /** Matches, and the target if it is one. */
  readonly extensions: readonly Extension[];
  /** The built-in chains that packets may come from; undefined for all. */
  readonly hooks: readonly string[] | undefined;
  /** No packet gets past it in its chain. */
  readonly isLast: boolean;
  readonly protocol: string | undefined;
  /** IP sets that it looks into. */
  readonly sets: readonly string[];
  /** Named counters that it adds to. */
  readonly counters: readonly string[];
  readonly packets: number;
  readonly bytes: number;
}
